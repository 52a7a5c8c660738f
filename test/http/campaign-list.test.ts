import assert from 'node:assert/strict';
import { assertInvalidFields, fieldValuesOf, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const create = async ({ call }: Fixture, fields: object = {}) =>
  jsonOf(await call('POST', '/campaigns', { ...campaignBody, ...fields }), 201);

const createTags = async ({ call }: Fixture, names: readonly string[]): Promise<string[]> => {
  const ids = [];
  for (const name of names) ids.push(jsonOf(await call('POST', '/tags', { name }), 201).id);
  return ids;
};

const listNames = async ({ call }: Fixture, query = '') =>
  fieldValuesOf(await call('GET', `/campaigns${query}`), 'name');

/** Asserts the names that each query lists. */
const assertNames = async (fixture: Fixture, cases: Readonly<Record<string, readonly string[]>>) => {
  for (const [query, expected] of Object.entries(cases))
    assert.deepEqual(await listNames(fixture, query), expected, query);
};

suite('GET /campaigns', {
  'lists the unarchived campaigns of the workspace, newest first': () =>
    withFixture(async (fixture, api) => {
      await create(await createFixture(api), { name: 'Foreign' });
      for (const name of ['first', 'third', 'second']) await create(fixture, { name });
      await create(fixture, { name: 'draft', status: 'draft' });
      await create(fixture, { name: 'archived', status: 'archived' });
      const { id } = await create(fixture, { name: 'archived later' });
      await api.app.campaigns.setStatus(fixture.workspaceId, id, 'archived');
      const live = ['draft', 'second', 'third', 'first'];
      await assertNames(fixture, {
        '': live,
        '?includeArchived=false': live,
        '?includeArchived=true': ['archived later', 'archived', ...live],
      });
      await api.app.campaigns.setStatus(fixture.workspaceId, id, 'published');
      await assertNames(fixture, { '': ['archived later', ...live] });
    }),

  'returns the twelve fields that a creation returns': () =>
    withFixture(async (fixture) => {
      const created = [await create(fixture), await create(fixture, { targetShares: '3', destinationUrl: '' })];
      assert.deepEqual(jsonOf(await fixture.call('GET', '/campaigns')), created.reverse());
    }),

  'filters by dates and not by status, and counts the start and the end as active': async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    await withFixture(
      async (fixture) => {
        const campaigns = {
          'bare dates': { startDate: '2026-06-01', endDate: '2026-06-30' },
          'one moment': { startDate: '2026-06-10T12:00+02:00', endDate: '2026-06-10T10:00Z', status: 'draft' },
          'date-times': {
            startDate: '2026-06-10T09:59:59.999Z',
            endDate: '2026-06-10T10:00:00.001',
            status: 'archived',
          },
        };
        for (const [name, fields] of Object.entries(campaigns)) await create(fixture, { name, ...fields });
        const [dates, moment, times] = Object.keys(campaigns) as [string, string, string];
        const all = [times, moment, dates];
        const cases: readonly [now: string, upcoming: string[], active: string[], nonUpcoming: string[]][] = [
          ['2026-05-31T23:59:59.999Z', all, [], []],
          ['2026-06-01T00:00:00.000Z', [times, moment], [dates], [dates]],
          ['2026-06-10T09:59:59.998Z', [times, moment], [dates], [dates]],
          ['2026-06-10T09:59:59.999Z', [moment], [times, dates], [times, dates]],
          ['2026-06-10T10:00:00.000Z', [], all, all],
          ['2026-06-10T10:00:00.001Z', [], [times, dates], all],
          ['2026-06-10T10:00:00.002Z', [], [dates], all],
          ['2026-06-30T23:59:59.999Z', [], [dates], all],
          ['2026-07-01T00:00:00.000Z', [], [], all],
        ];
        for (const [time, upcoming, active, nonUpcoming] of cases) {
          now = Date.parse(time);
          const lists = { upcoming, active, 'non-upcoming': nonUpcoming };
          for (const [filter, expected] of Object.entries(lists)) {
            await assertNames(fixture, { [`?filter=${filter}&includeArchived=true`]: expected });
            await assertNames(fixture, { [`?filter=${filter}`]: expected.filter((name) => name !== times) });
          }
        }
      },
      { now: () => now },
    );
  },

  'sorts by createdAt, updatedAt or startDate, always descending': async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    await withFixture(
      async (fixture, api) => {
        const { campaigns } = api.app;
        const starts = { a: '2026-03-01', b: '2026-01-01T23:00-02:00', c: '2026-01-02', d: '2026-01-02T00:00Z' };
        const ids: Record<string, string> = {};
        for (const [name, startDate] of Object.entries(starts)) {
          now += 1000;
          ids[name] = (await create(fixture, { name, startDate })).id;
        }
        now += 1000;
        await campaigns.recordShare(fixture.workspaceId, ids.c as string, fixture.admin.id);
        await campaigns.recordClicks(fixture.workspaceId, ids.c as string, 5);
        await campaigns.setStatus(fixture.workspaceId, ids.b as string, 'archived');
        await assertNames(fixture, {
          '?includeArchived=true': ['d', 'c', 'b', 'a'],
          '?includeArchived=true&sortBy=createdAt': ['d', 'c', 'b', 'a'],
          '?includeArchived=true&sortBy=updatedAt': ['b', 'd', 'c', 'a'],
          '?includeArchived=true&sortBy=startDate': ['a', 'b', 'd', 'c'],
          '?sortBy=startDate&filter=upcoming': ['a', 'd', 'c'],
          '?sortBy=startDate&page=2&pageSize=2': ['c'],
        });
      },
      { now: () => now },
    );
  },

  'sorts equal values by id, descending': () =>
    withFixture(
      async (fixture) => {
        for (const name of ['a', 'b', 'c']) await create(fixture, { name });
        for (const sortBy of ['createdAt', 'updatedAt', 'startDate']) {
          await assertNames(fixture, { [`?sortBy=${sortBy}`]: ['c', 'b', 'a'] });
        }
      },
      { now: () => Date.parse('2026-01-31T09:00:00Z') },
    ),

  'searches name and description: ignores case, distinguishes diacritics, and has no pattern characters': () =>
    withFixture(async (fixture) => {
      await create(fixture, { name: 'Café time', description: '100% off_now [all].* \\o/', objective: 'Hidden' });
      await create(fixture, { name: 'Tea', description: 'No CAFE\u0301: ΟΔΟΣ', shareContext: 'Hidden' });
      await create(fixture, { name: 'Old cafe', status: 'archived' });
      const cases: Record<string, string[]> = {
        café: ['Tea', 'Café time'],
        'CAFÉ TI': ['Café time'],
        ' afé t ': ['Café time'],
        cafe: [],
        'cafe\u0301': ['Tea', 'Café time'],
        οδος: ['Tea'],
        οδοσ: ['Tea'],
        '% OFF_': ['Café time'],
        '%': ['Café time'],
        'off%': [],
        _: ['Café time'],
        '[all].*': ['Café time'],
        '.*': ['Café time'],
        '^Tea': [],
        '\\O/': ['Café time'],
        time100: [],
        'time 100': [],
        hidden: [],
        ':': ['Tea'],
      };
      for (const [search, expected] of Object.entries(cases)) {
        await assertNames(fixture, { [`?search=${encodeURIComponent(search)}`]: expected });
      }
      await assertNames(fixture, {
        '?search=cafe&includeArchived=true': ['Old cafe'],
        '?search=tea+': ['Tea'],
        '?search=caf%C3%A9+time': ['Café time'],
      });
    }),

  'filters by tags: a campaign must have one of the ids, and a tag with one of the names': () =>
    withFixture(async (fixture, api) => {
      const [launch, hiring, unused] = await createTags(fixture, ['Launch', 'Über uns', 'Launches']);
      const [foreign] = await createTags(await createFixture(api), ['Foreign']);
      await create(fixture, { name: 'none' });
      await create(fixture, { name: 'launch', tagIds: [launch] });
      await create(fixture, { name: 'hiring', tagIds: [hiring] });
      await create(fixture, { name: 'both', tagIds: [hiring, launch] });
      const either = ['both', 'hiring', 'launch'];
      const decomposed = encodeURIComponent('ÜBER UNS'.normalize('NFD'));
      await assertNames(fixture, {
        [`?tagIds=${launch}`]: ['both', 'launch'],
        [`?tagIds=${launch?.toUpperCase()}`]: ['both', 'launch'],
        [`?tagIds=${launch},${hiring}`]: either,
        [`?tagIds=${launch}&tagIds=${hiring}`]: either,
        [`?tagIds=${launch},${launch}&tagIds=${UNKNOWN_ID},${foreign}`]: ['both', 'launch'],
        [`?tagIds=${unused}`]: [],
        [`?tagIds=${foreign}`]: [],
        [`?tagIds=${UNKNOWN_ID}`]: [],
        '?tagNames=Launch': ['both', 'launch'],
        '?tagNames=%20LAUNCH+': ['both', 'launch'],
        '?tagNames=laun': [],
        '?tagNames=Launches': [],
        '?tagNames=launch,%20%C3%9Cber%20uns': either,
        [`?tagNames=launch&tagNames=${decomposed}`]: either,
        '?tagNames=launch,LAUNCH&tagNames=Launch': ['both', 'launch'],
        '?tagNames=foreign': [],
        '?tagNames=uber%20uns': [],
        [`?tagNames=${'x'.repeat(191)}`]: [],
        [`?tagNames=launch&tagIds=${hiring}`]: ['both'],
        [`?tagNames=launch&tagIds=${launch}`]: ['both', 'launch'],
        [`?tagNames=launches&tagIds=${launch}`]: [],
        [`?tagNames=unknown&tagIds=${launch}`]: [],
      });
      jsonOf(await fixture.call('PATCH', `/tags/${launch}`, { name: 'Start' }));
      await assertNames(fixture, { '?tagNames=launch': [], '?tagNames=START': ['both', 'launch'] });
    }),

  'accepts at most 100 tag names that differ by more than case, and no blank name': () =>
    withFixture(async (fixture) => {
      const [tag] = await createTags(fixture, ['Name 99']);
      await create(fixture, { tagIds: [tag] });
      const list = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix} ${i}`).join();
      const hundred = list(100, 'name');
      await assertNames(fixture, {
        [`?tagNames=${hundred}`]: ['Summer'],
        [`?tagNames=${hundred},${list(100, 'NAME')}&tagNames=${list(100, ' Name')}`]: ['Summer'],
      });
      const invalidQueries: Record<string, string> = {
        [list(101, 'name')]: 'tagNames',
        [`${hundred}&tagNames=other`]: 'tagNames',
        '': 'tagNames.0',
        '%20': 'tagNames.0',
        ',a': 'tagNames.0',
        'a,,b': 'tagNames.1',
        'a&tagNames=': 'tagNames.1',
        'a,%00': 'tagNames.1',
      };
      for (const [query, path] of Object.entries(invalidQueries)) {
        assertInvalidFields(await fixture.call('GET', `/campaigns?tagNames=${query}`), [path], query);
      }
    }),

  'filters by the member who created the campaign': () =>
    withFixture(async (fixture, api) => {
      const colleague = await fixture.addMember({ role: 'admin' });
      const keys = {
        admin: fixture.key,
        colleague: await fixture.addKey(colleague.id),
        nobody: await fixture.addKey(),
      };
      for (const [name, key] of Object.entries(keys)) {
        jsonOf(await api.call('POST', '/campaigns', { key, body: { ...campaignBody, name } }), 201);
      }
      await assertNames(fixture, {
        [`?userId=${fixture.admin.id}`]: ['admin'],
        [`?userId=${colleague.id}`]: ['colleague'],
        [`?userId=${colleague.id.toUpperCase()}`]: ['colleague'],
        [`?userId=${UNKNOWN_ID}`]: [],
        [`?userId=${(await createFixture(api)).admin.id}`]: [],
      });
      for (const userId of ['', 'x', 'null', `${UNKNOWN_ID},${UNKNOWN_ID}`, `%20${UNKNOWN_ID}`]) {
        assertInvalidFields(await fixture.call('GET', `/campaigns?userId=${userId}`), ['userId'], userId);
      }
    }),

  'filters by the normal form of a domain, whether the domain is archived or not': () =>
    withFixture(async (fixture, api) => {
      const slug = 'xn--bcher-kva.example';
      for (const domain of [slug, 'go.example']) jsonOf(await fixture.call('POST', '/domains', { slug: domain }), 201);
      await create(fixture, { name: 'none' });
      await create(fixture, { name: 'books', domain: slug });
      await create(fixture, { name: 'go', domain: 'GO.example' });
      const other = await createFixture(api);
      jsonOf(await other.call('POST', '/domains', { slug: 'foreign.example' }), 201);
      await create(other, { domain: 'foreign.example' });
      const cases = {
        [`?domain=${slug}`]: ['books'],
        '?domain=B%C3%BCCHER.example.': ['books'],
        '?domain=+go.example%20': ['go'],
        '?domain=example': [],
        '?domain=go.exampl': [],
        '?domain=https://go.example': [],
        '?domain=www.go.example': [],
        '?domain=null': [],
        '?domain=%C3%BC': [],
        '?domain=foreign.example': [],
        '?domain=unknown.example': [],
      };
      await assertNames(fixture, cases);
      jsonOf(await fixture.call('POST', '/domains', { slug, archived: true }));
      await assertNames(fixture, cases);
      for (const domain of ['', '%20', '%00', 'a.b&domain=a.b']) {
        assertInvalidFields(await fixture.call('GET', `/campaigns?domain=${domain}`), ['domain'], domain);
      }
    }),

  'combines all filters': async () => {
    const now = Date.parse('2026-06-10T12:00:00Z');
    await withFixture(
      async (fixture, api) => {
        const [a, b] = await createTags(fixture, ['A', 'B']);
        for (const slug of ['a.example', 'b.example']) jsonOf(await fixture.call('POST', '/domains', { slug }), 201);
        const match = {
          name: 'match',
          tagIds: [a, b],
          domain: 'a.example',
          status: 'archived',
          description: 'found',
        };
        await create(fixture, match);
        const others = [
          { tagIds: [a] },
          { tagIds: [b] },
          { domain: 'b.example' },
          { domain: null },
          { description: 'lost' },
          { startDate: '2026-06-11' },
          { endDate: '2026-06-09' },
        ];
        for (const other of others) await create(fixture, { ...match, name: JSON.stringify(other), ...other });
        const nobody = { key: await fixture.addKey(), body: { ...campaignBody, ...match, name: 'of nobody' } };
        jsonOf(await api.call('POST', '/campaigns', nobody), 201);
        const userId = fixture.admin.id;
        const query = `?tagIds=${a}&tagNames=b&domain=a.example&userId=${userId}&search=FOUND&filter=active`;
        await assertNames(fixture, {
          [`${query}&includeArchived=true&sortBy=startDate`]: ['match'],
          [`${query}&includeArchived=true&limit=1&page=2`]: [],
          [query]: [],
        });
      },
      { now: () => now },
    );
  },
});
