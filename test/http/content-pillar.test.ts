import assert from 'node:assert/strict';
import type { NewContentPillar } from '../../core/content-pillar/content-pillar.ts';
import {
  assertInvalidFields,
  assertNotFound,
  fieldValuesOf,
  jsonOf,
  UNKNOWN_ID,
  UUID_V7,
} from '../support/expected-responses.ts';
import { createFixture, type Fixture, storedCampaign, withFixture } from '../support/fixture.ts';
import { campaignBody, textsAroundLimits } from '../support/samples.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'];

/** Creates a pillar as the command line does, because the API cannot create one. */
const create = ({ app }: Api, { workspaceId, admin }: Fixture, fields: Partial<NewContentPillar> = {}) =>
  app.contentPillars.create(workspaceId, { authorId: admin.id, title: 'Life', color: 'green', ...fields });

const listTitles = async ({ call }: Fixture, query = '') =>
  fieldValuesOf(await call('GET', `/content-pillars${query}`), 'title');

suite('GET /content-pillars', {
  'returns the nine fields of each pillar': () =>
    withFixture(
      async (fixture, api) => {
        const { id } = await create(api, fixture);
        const [pillar, ...rest] = jsonOf(await fixture.call('GET', '/content-pillars'));
        assert.deepEqual(rest, []);
        assert.deepEqual(pillar, {
          id,
          title: 'Life',
          description: '',
          color: 'green',
          status: 'published',
          authorId: fixture.admin.id,
          workspaceId: fixture.workspaceId,
          createdAt: '2026-01-31T09:00:00.000Z',
          updatedAt: '2026-01-31T09:00:00.000Z',
        });
        assert.match(id, UUID_V7);
      },
      { now: () => NINE },
    ),

  'lists the pillars of the workspace, including archived pillars, newest first': () =>
    withFixture(async (fixture, api) => {
      await create(api, await createFixture(api), { title: 'Foreign' });
      for (const title of ['First', 'Third', 'Second']) {
        const { id } = await create(api, fixture, { title });
        if (title === 'Third') jsonOf(await fixture.call('PATCH', `/content-pillars/${id}`, { status: 'archived' }));
      }
      assert.deepEqual(await listTitles(fixture), ['Second', 'Third', 'First']);
    }),

  'sorts by creation time, or by the code points of the case-folded title, in both directions': () =>
    withFixture(async (fixture, api) => {
      const byCreation = ['b', 'Z', '😀', 'a', 'ﬀ', 'É', 'Á', 'c', 'e', '10', '9', 'Σ', 'ς', 'ab', 'A B'];
      const byTitle = ['10', '9', 'a', 'A B', 'ab', 'b', 'c', 'e', 'Z', 'Á', 'É', 'Σ', 'ς', 'ﬀ', '😀'];
      for (const title of byCreation) await create(api, fixture, { title });
      const cases: readonly [query: string, titles: readonly string[]][] = [
        ['', byCreation.toReversed()],
        ['?sortBy=createdAt', byCreation.toReversed()],
        ['?sortOrder=desc', byCreation.toReversed()],
        ['?sortOrder=asc', byCreation],
        ['?sortBy=createdAt&sortOrder=asc', byCreation],
        ['?sortBy=title', byTitle.toReversed()],
        ['?sortBy=title&sortOrder=desc', byTitle.toReversed()],
        ['?sortBy=title&sortOrder=asc', byTitle],
        ['?sortBy=title&sortOrder=asc&page=2&pageSize=4', byTitle.slice(4, 8)],
      ];
      for (const [query, expected] of cases) assert.deepEqual(await listTitles(fixture, query), expected, query);
    }),

  'sorts by id, in the same direction, if titles differ only in case': () =>
    withFixture(async (fixture, api) => {
      const titles = ['Life', 'LIFE', 'life'];
      for (const title of titles) await create(api, fixture, { title });
      assert.deepEqual(await listTitles(fixture, '?sortBy=title&sortOrder=asc'), titles);
      assert.deepEqual(await listTitles(fixture, '?sortBy=title&sortOrder=desc'), titles.toReversed());
    }),

  'sorts by the current title after a change': () =>
    withFixture(async (fixture, api) => {
      const { id } = await create(api, fixture, { title: 'a' });
      await create(api, fixture, { title: 'b' });
      jsonOf(await fixture.call('PATCH', `/content-pillars/${id}`, { title: 'C' }));
      assert.deepEqual(await listTitles(fixture, '?sortBy=title&sortOrder=asc'), ['b', 'C']);
    }),

  'searches title and description, ignoring case': () =>
    withFixture(async (fixture, api) => {
      await create(api, fixture, { title: 'Café crème', description: '100% of_the [best].*' });
      await create(api, fixture, { title: 'Tea', description: 'With a café nearby: ΟΔΟΣ' });
      await create(api, fixture, { title: 'Cafe' });
      const cases: readonly [search: string, titles: string[]][] = [
        ['CAFÉ', ['Tea', 'Café crème']],
        ['cafe\u0301', ['Tea', 'Café crème']],
        ['cafe', ['Cafe']],
        [' afé cr ', ['Café crème']],
        ['Οδος', ['Tea']],
        ['100% OF_THE [BEST].*', ['Café crème']],
        ['100_', []],
        ['.*', ['Café crème']],
        ['crème 100%', []],
        ['crème100%', []],
        ['nothing', []],
      ];
      for (const [search, expected] of cases) {
        assert.deepEqual(await listTitles(fixture, `?search=${encodeURIComponent(search)}`), expected, search);
      }
      for (const blank of ['', '%20', '+%09']) assert.equal((await listTitles(fixture, `?search=${blank}`)).length, 3);
    }),

  'finds only the current words of a pillar after a change': () =>
    withFixture(async (fixture, api) => {
      const { id } = await create(api, fixture, { title: 'Coffee', description: 'Beans' });
      jsonOf(await fixture.call('PATCH', `/content-pillars/${id}`, { title: 'Tea', description: 'Leaves' }));
      for (const word of ['coffee', 'beans']) assert.deepEqual(await listTitles(fixture, `?search=${word}`), [], word);
      for (const word of ['tea', 'leaves'])
        assert.deepEqual(await listTitles(fixture, `?search=${word}`), ['Tea'], word);
    }),

  'filters by ids, alone and with a search': () =>
    withFixture(async (fixture, api) => {
      const [tea, green, coffee] = [
        await create(api, fixture, { title: 'Tea' }),
        await create(api, fixture, { title: 'Green tea' }),
        await create(api, fixture, { title: 'Coffee' }),
      ].map(({ id }) => id);
      await create(api, fixture, { title: 'Black tea' });
      assert.deepEqual(await listTitles(fixture, `?ids=${coffee},${tea}&ids=${green}`), ['Coffee', 'Green tea', 'Tea']);
      assert.deepEqual(await listTitles(fixture, `?ids=${coffee},${tea}&search=tea`), ['Tea']);
      assert.deepEqual(await listTitles(fixture, `?ids=${tea},${UNKNOWN_ID}&sortBy=title`), ['Tea']);
    }),
});

suite('PATCH /content-pillars/{id}', {
  'changes the fields that are sent, and no others': async () => {
    let now = NINE;
    await withFixture(
      async (fixture, api) => {
        const { id } = await create(api, fixture);
        const [created] = jsonOf(await fixture.call('GET', '/content-pillars'));
        let pillar = created;
        const changes = [
          { title: 'Outdoors' },
          { title: 'OUTDOORS' },
          { description: 'What we do when we are not at work' },
          { description: '' },
          { color: 'brown' },
          { status: 'archived' },
          { status: 'published' },
          { title: 'Work', description: 'With us', color: 'red', status: 'archived' },
          { color: 'red', title: 'Works' },
        ];
        for (const change of changes) {
          now += 1000;
          const expected = { ...pillar, ...change, updatedAt: new Date(now).toISOString() };
          pillar = jsonOf(await fixture.call('PATCH', `/content-pillars/${id.toUpperCase()}`, change));
          assert.deepEqual(pillar, expected, JSON.stringify(change));
          assert.deepEqual(jsonOf(await fixture.call('GET', '/content-pillars')), [expected]);
        }
      },
      { now: () => now },
    );
  },

  'changes nothing, not even updatedAt, if no value differs': async () => {
    let now = NINE;
    await withFixture(
      async (fixture, api) => {
        const { id } = await create(api, fixture, { description: 'With us' });
        const [pillar] = jsonOf(await fixture.call('GET', '/content-pillars'));
        now += 1000;
        const { title, description, color, status } = pillar;
        const same = [{}, { title: ` ${title} ` }, { description }, { color, status }];
        for (const body of [...same, { title, description, color, status }]) {
          assert.deepEqual(jsonOf(await fixture.call('PATCH', `/content-pillars/${id}`, body)), pillar);
        }
        assert.deepEqual(jsonOf(await fixture.call('GET', '/content-pillars')), [pillar]);
      },
      { now: () => now },
    );
  },

  'accepts a title of 1 to 100 code points, a description of up to 1500, and each color and status': () =>
    withFixture(async (fixture, api) => {
      const path = `/content-pillars/${(await create(api, fixture)).id}`;
      const title = textsAroundLimits({ min: 1, max: 100 });
      const description = textsAroundLimits({ max: 1500 });
      const cases: Record<string, { valid: string[]; invalid: unknown[] }> = {
        title: { valid: [...title.valid, 'Straße, und mehr'], invalid: [...title.invalid, null, 1, []] },
        description: { valid: description.valid, invalid: [...description.invalid, null, 1, {}] },
        color: { valid: COLORS, invalid: ['Red', ' red', '', 'orange', null, 1, ['red']] },
        status: { valid: ['archived', 'published'], invalid: ['draft', 'Archived', '', null, true, {}] },
      };
      for (const [field, { valid, invalid }] of Object.entries(cases)) {
        for (const value of valid) {
          assert.equal(jsonOf(await fixture.call('PATCH', path, { [field]: value }))[field], value.trim());
        }
        for (const value of invalid) {
          assertInvalidFields(await fixture.call('PATCH', path, { [field]: value }), [field], JSON.stringify(value));
        }
      }
    }),

  'names every unknown or invalid field, and changes nothing': () =>
    withFixture(async (fixture, api) => {
      const { id } = await create(api, fixture);
      const body = { title: 'Outdoors', color: 'pink', status: 1, authorId: UNKNOWN_ID, createdAt: '2026-01-31' };
      const response = await fixture.call('PATCH', `/content-pillars/${id}`, body);
      assertInvalidFields(response, ['authorId', 'createdAt', 'color', 'status']);
      assert.deepEqual(await listTitles(fixture), ['Life']);
    }),

  'validates the body before it returns 404 for an unknown id': () =>
    withFixture(async (fixture, api) => {
      const foreign = await create(api, await createFixture(api));
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', fixture.admin.id]) {
        for (const body of [{}, { title: 'Outdoors' }]) {
          assertNotFound(await fixture.call('PATCH', `/content-pillars/${id}`, body), id);
        }
        assertInvalidFields(await fixture.call('PATCH', `/content-pillars/${id}`, { title: '' }), ['title']);
      }
    }),
});

suite('DELETE /content-pillars/{id}', {
  'deletes a pillar, and returns 404 for it afterwards': () =>
    withFixture(async (fixture, api) => {
      const { id } = await create(api, fixture);
      await create(api, fixture, { title: 'Stays' });
      const path = `/content-pillars/${id}`;
      assert.deepEqual(jsonOf(await fixture.call('DELETE', `/content-pillars/${id.toUpperCase()}`)), { id });
      assertNotFound(await fixture.call('DELETE', path));
      assertNotFound(await fixture.call('PATCH', path, { title: 'Back' }));
      assert.deepEqual(await listTitles(fixture), ['Stays']);
      assert.deepEqual(await listTitles(fixture, `?ids=${id}`), []);
    }),

  'changes no campaign that refers to the pillar, and allows no new reference to it': () =>
    withFixture(async (fixture, api) => {
      const { id } = await create(api, fixture);
      const body = { ...campaignBody, contentPillarId: id };
      const campaign = jsonOf(await fixture.call('POST', '/campaigns', body), 201);
      jsonOf(await fixture.call('DELETE', `/content-pillars/${id}`));
      assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${campaign.id}`)), campaign);
      const stored = await storedCampaign(api, fixture, campaign.id);
      assert.deepEqual([stored.contentPillarId, stored.updatedAt], [id, stored.createdAt]);
      assertInvalidFields(await fixture.call('POST', '/campaigns', body), ['contentPillarId']);
    }),

  'returns 404 for an unknown id': () =>
    withFixture(async (fixture, api) => {
      const other = await createFixture(api);
      const foreign = await create(api, other);
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', fixture.admin.id]) {
        assertNotFound(await fixture.call('DELETE', `/content-pillars/${id}`), id);
      }
      assert.deepEqual(await listTitles(other), ['Life']);
    }),
});
