import assert from 'node:assert/strict';
import type { NewContentPillar } from '../../core/content-pillar/content-pillar-service.ts';
import { assertFaults, assertNotFound, jsonOf, UNKNOWN_ID, UUID_V7, valuesOf } from '../support/expected-responses.ts';
import { inWorld, newWorld, storedCampaign, type World } from '../support/fixture.ts';
import { campaignBody, textsAround } from '../support/samples.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'];

/** The command line makes pillars, by this use case. */
const create = ({ app }: Api, { workspaceId, admin }: World, fields: Partial<NewContentPillar> = {}) =>
  app.contentPillars.create(workspaceId, { authorId: admin.id, title: 'Life', color: 'green', ...fields });

const titles = async ({ call }: World, query = '') => valuesOf(await call('GET', `/content-pillars${query}`), 'title');

suite('GET /content-pillars', {
  'returns nine fields of each': () =>
    inWorld(
      async (world, api) => {
        const { id } = await create(api, world);
        const [pillar, ...rest] = jsonOf(await world.call('GET', '/content-pillars'));
        assert.deepEqual(rest, []);
        assert.deepEqual(pillar, {
          id,
          title: 'Life',
          description: '',
          color: 'green',
          status: 'published',
          authorId: world.admin.id,
          workspaceId: world.workspaceId,
          createdAt: '2026-01-31T09:00:00.000Z',
          updatedAt: '2026-01-31T09:00:00.000Z',
        });
        assert.match(id, UUID_V7);
      },
      { now: () => NINE },
    ),

  'lists the pillars of the workspace, archived ones too, newest first': () =>
    inWorld(async (world, api) => {
      await create(api, await newWorld(api), { title: 'Foreign' });
      for (const title of ['First', 'Third', 'Second']) {
        const { id } = await create(api, world, { title });
        if (title === 'Third') jsonOf(await world.call('PATCH', `/content-pillars/${id}`, { status: 'archived' }));
      }
      assert.deepEqual(await titles(world), ['Second', 'Third', 'First']);
    }),

  'orders by creation or by the code points of the folded title, in both directions': () =>
    inWorld(async (world, api) => {
      const byCreation = ['b', 'Z', '😀', 'a', 'ﬀ', 'É', 'Á', 'c', 'e', '10', '9', 'Σ', 'ς', 'ab', 'A B'];
      const byTitle = ['10', '9', 'a', 'A B', 'ab', 'b', 'c', 'e', 'Z', 'Á', 'É', 'Σ', 'ς', 'ﬀ', '😀'];
      for (const title of byCreation) await create(api, world, { title });
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
      for (const [query, expected] of cases) assert.deepEqual(await titles(world, query), expected, query);
    }),

  'orders equal titles by id, in the same direction': () =>
    inWorld(async (world, api) => {
      const names = ['Life', 'LIFE', 'life'];
      for (const title of names) await create(api, world, { title });
      assert.deepEqual(await titles(world, '?sortBy=title&sortOrder=asc'), names);
      assert.deepEqual(await titles(world, '?sortBy=title&sortOrder=desc'), names.toReversed());
    }),

  'orders by the title that a pillar has now': () =>
    inWorld(async (world, api) => {
      const { id } = await create(api, world, { title: 'a' });
      await create(api, world, { title: 'b' });
      jsonOf(await world.call('PATCH', `/content-pillars/${id}`, { title: 'C' }));
      assert.deepEqual(await titles(world, '?sortBy=title&sortOrder=asc'), ['b', 'C']);
    }),

  'searches title and description': () =>
    inWorld(async (world, api) => {
      await create(api, world, { title: 'Café crème', description: '100% of_the [best].*' });
      await create(api, world, { title: 'Tea', description: 'With a café nearby: ΟΔΟΣ' });
      await create(api, world, { title: 'Cafe' });
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
        assert.deepEqual(await titles(world, `?search=${encodeURIComponent(search)}`), expected, search);
      }
      for (const blank of ['', '%20', '+%09']) assert.equal((await titles(world, `?search=${blank}`)).length, 3);
    }),

  'finds the words that a pillar has now': () =>
    inWorld(async (world, api) => {
      const { id } = await create(api, world, { title: 'Coffee', description: 'Beans' });
      jsonOf(await world.call('PATCH', `/content-pillars/${id}`, { title: 'Tea', description: 'Leaves' }));
      for (const word of ['coffee', 'beans']) assert.deepEqual(await titles(world, `?search=${word}`), [], word);
      for (const word of ['tea', 'leaves']) assert.deepEqual(await titles(world, `?search=${word}`), ['Tea'], word);
    }),

  'filters by ids, alone and with a search': () =>
    inWorld(async (world, api) => {
      const [tea, green, coffee] = [
        await create(api, world, { title: 'Tea' }),
        await create(api, world, { title: 'Green tea' }),
        await create(api, world, { title: 'Coffee' }),
      ].map(({ id }) => id);
      await create(api, world, { title: 'Black tea' });
      assert.deepEqual(await titles(world, `?ids=${coffee},${tea}&ids=${green}`), ['Coffee', 'Green tea', 'Tea']);
      assert.deepEqual(await titles(world, `?ids=${coffee},${tea}&search=tea`), ['Tea']);
      assert.deepEqual(await titles(world, `?ids=${tea},${UNKNOWN_ID}&sortBy=title`), ['Tea']);
    }),
});

suite('PATCH /content-pillars/{id}', {
  'changes what is sent and leaves what is not': async () => {
    let now = NINE;
    await inWorld(
      async (world, api) => {
        const { id } = await create(api, world);
        const [created] = jsonOf(await world.call('GET', '/content-pillars'));
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
          pillar = jsonOf(await world.call('PATCH', `/content-pillars/${id.toUpperCase()}`, change));
          assert.deepEqual(pillar, expected, JSON.stringify(change));
          assert.deepEqual(jsonOf(await world.call('GET', '/content-pillars')), [expected]);
        }
      },
      { now: () => now },
    );
  },

  'changes nothing, updatedAt included, when nothing is sent or all of it is so already': async () => {
    let now = NINE;
    await inWorld(
      async (world, api) => {
        const { id } = await create(api, world, { description: 'With us' });
        const [pillar] = jsonOf(await world.call('GET', '/content-pillars'));
        now += 1000;
        const { title, description, color, status } = pillar;
        const same = [{}, { title: ` ${title} ` }, { description }, { color, status }];
        for (const body of [...same, { title, description, color, status }]) {
          assert.deepEqual(jsonOf(await world.call('PATCH', `/content-pillars/${id}`, body)), pillar);
        }
        assert.deepEqual(jsonOf(await world.call('GET', '/content-pillars')), [pillar]);
      },
      { now: () => now },
    );
  },

  'takes a title of 1 to 100 and a description of at most 1500 code points, every colour and both statuses': () =>
    inWorld(async (world, api) => {
      const path = `/content-pillars/${(await create(api, world)).id}`;
      const title = textsAround({ min: 1, max: 100 });
      const description = textsAround({ max: 1500 });
      const cases: Record<string, { taken: string[]; refused: unknown[] }> = {
        title: { taken: [...title.taken, 'Straße, und mehr'], refused: [...title.refused, null, 1, []] },
        description: { taken: description.taken, refused: [...description.refused, null, 1, {}] },
        color: { taken: COLORS, refused: ['Red', ' red', '', 'orange', null, 1, ['red']] },
        status: { taken: ['archived', 'published'], refused: ['draft', 'Archived', '', null, true, {}] },
      };
      for (const [field, { taken, refused }] of Object.entries(cases)) {
        for (const value of taken) {
          assert.equal(jsonOf(await world.call('PATCH', path, { [field]: value }))[field], value.trim());
        }
        for (const value of refused) {
          assertFaults(await world.call('PATCH', path, { [field]: value }), [field], JSON.stringify(value));
        }
      }
    }),

  'names every wrong and unknown field, and changes nothing then': () =>
    inWorld(async (world, api) => {
      const { id } = await create(api, world);
      const body = { title: 'Outdoors', color: 'pink', status: 1, authorId: UNKNOWN_ID, createdAt: '2026-01-31' };
      const answer = await world.call('PATCH', `/content-pillars/${id}`, body);
      assertFaults(answer, ['authorId', 'createdAt', 'color', 'status']);
      assert.deepEqual(await titles(world), ['Life']);
    }),

  'answers 404 for what is no pillar here, after the shape': () =>
    inWorld(async (world, api) => {
      const foreign = await create(api, await newWorld(api));
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', world.admin.id]) {
        for (const body of [{}, { title: 'Outdoors' }]) {
          assertNotFound(await world.call('PATCH', `/content-pillars/${id}`, body), id);
        }
        assertFaults(await world.call('PATCH', `/content-pillars/${id}`, { title: '' }), ['title']);
      }
    }),
});

suite('DELETE /content-pillars/{id}', {
  'deletes a pillar, once': () =>
    inWorld(async (world, api) => {
      const { id } = await create(api, world);
      await create(api, world, { title: 'Stays' });
      const path = `/content-pillars/${id}`;
      assert.deepEqual(jsonOf(await world.call('DELETE', `/content-pillars/${id.toUpperCase()}`)), { id });
      assertNotFound(await world.call('DELETE', path));
      assertNotFound(await world.call('PATCH', path, { title: 'Back' }));
      assert.deepEqual(await titles(world), ['Stays']);
      assert.deepEqual(await titles(world, `?ids=${id}`), []);
    }),

  'changes no campaign that names the pillar, which no new one can name': () =>
    inWorld(async (world, api) => {
      const { id } = await create(api, world);
      const body = { ...campaignBody, contentPillarId: id };
      const campaign = jsonOf(await world.call('POST', '/campaigns', body), 201);
      jsonOf(await world.call('DELETE', `/content-pillars/${id}`));
      assert.deepEqual(jsonOf(await world.call('GET', `/campaigns/${campaign.id}`)), campaign);
      const kept = await storedCampaign(api, world, campaign.id);
      assert.deepEqual([kept.contentPillarId, kept.updatedAt], [id, kept.createdAt]);
      assertFaults(await world.call('POST', '/campaigns', body), ['contentPillarId']);
    }),

  'answers 404 for what is no pillar here': () =>
    inWorld(async (world, api) => {
      const other = await newWorld(api);
      const foreign = await create(api, other);
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', world.admin.id]) {
        assertNotFound(await world.call('DELETE', `/content-pillars/${id}`), id);
      }
      assert.deepEqual(await titles(other), ['Life']);
    }),
});
