import assert from 'node:assert/strict';
import { assertFaults, jsonOf, UNKNOWN_ID, valuesOf } from '../support/expected-responses.ts';
import { inWorld, newWorld, type World } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const create = async ({ call }: World, fields: object = {}) =>
  jsonOf(await call('POST', '/campaigns', { ...campaignBody, ...fields }), 201);

const createTags = async ({ call }: World, names: readonly string[]): Promise<string[]> => {
  const ids = [];
  for (const name of names) ids.push(jsonOf(await call('POST', '/tags', { name }), 201).id);
  return ids;
};

const names = async ({ call }: World, query = '') => valuesOf(await call('GET', `/campaigns${query}`), 'name');

/** Asks with each query, and expects these names. */
const checkNames = async (world: World, cases: Readonly<Record<string, readonly string[]>>) => {
  for (const [query, expected] of Object.entries(cases)) assert.deepEqual(await names(world, query), expected, query);
};

suite('GET /campaigns', {
  'lists the campaigns of the workspace that are not archived, newest first': () =>
    inWorld(async (world, api) => {
      await create(await newWorld(api), { name: 'Foreign' });
      for (const name of ['first', 'third', 'second']) await create(world, { name });
      await create(world, { name: 'draft', status: 'draft' });
      await create(world, { name: 'archived', status: 'archived' });
      const { id } = await create(world, { name: 'archived later' });
      await api.app.campaigns.setStatus(world.workspaceId, id, 'archived');
      const live = ['draft', 'second', 'third', 'first'];
      await checkNames(world, {
        '': live,
        '?includeArchived=false': live,
        '?includeArchived=true': ['archived later', 'archived', ...live],
      });
      await api.app.campaigns.setStatus(world.workspaceId, id, 'published');
      await checkNames(world, { '': ['archived later', ...live] });
    }),

  'returns the same twelve fields of each as a creation': () =>
    inWorld(async (world) => {
      const created = [await create(world), await create(world, { targetShares: '3', destinationUrl: '' })];
      assert.deepEqual(jsonOf(await world.call('GET', '/campaigns')), created.reverse());
    }),

  'filters by dates alone: a start and an end belong to the time that is active': async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    await inWorld(
      async (world) => {
        const made = {
          'bare dates': { startDate: '2026-06-01', endDate: '2026-06-30' },
          'one moment': { startDate: '2026-06-10T12:00+02:00', endDate: '2026-06-10T10:00Z', status: 'draft' },
          'date-times': {
            startDate: '2026-06-10T09:59:59.999Z',
            endDate: '2026-06-10T10:00:00.001',
            status: 'archived',
          },
        };
        for (const [name, fields] of Object.entries(made)) await create(world, { name, ...fields });
        const [dates, moment, times] = Object.keys(made) as [string, string, string];
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
            await checkNames(world, { [`?filter=${filter}&includeArchived=true`]: expected });
            await checkNames(world, { [`?filter=${filter}`]: expected.filter((name) => name !== times) });
          }
        }
      },
      { now: () => now },
    );
  },

  'orders by createdAt, updatedAt or startDate, always descending': async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    await inWorld(
      async (world, api) => {
        const { campaigns } = api.app;
        const starts = { a: '2026-03-01', b: '2026-01-01T23:00-02:00', c: '2026-01-02', d: '2026-01-02T00:00Z' };
        const ids: Record<string, string> = {};
        for (const [name, startDate] of Object.entries(starts)) {
          now += 1000;
          ids[name] = (await create(world, { name, startDate })).id;
        }
        now += 1000;
        await campaigns.recordShare(world.workspaceId, ids.c as string, world.admin.id);
        await campaigns.recordClicks(world.workspaceId, ids.c as string, 5);
        await campaigns.setStatus(world.workspaceId, ids.b as string, 'archived');
        await checkNames(world, {
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

  'orders what is equal by id, descending': () =>
    inWorld(
      async (world) => {
        for (const name of ['a', 'b', 'c']) await create(world, { name });
        for (const sortBy of ['createdAt', 'updatedAt', 'startDate']) {
          await checkNames(world, { [`?sortBy=${sortBy}`]: ['c', 'b', 'a'] });
        }
      },
      { now: () => Date.parse('2026-01-31T09:00:00Z') },
    ),

  'searches name and description, whatever the case, with diacritics significant and no pattern characters': () =>
    inWorld(async (world) => {
      await create(world, { name: 'Café time', description: '100% off_now [all].* \\o/', objective: 'Hidden' });
      await create(world, { name: 'Tea', description: 'No CAFE\u0301: ΟΔΟΣ', shareContext: 'Hidden' });
      await create(world, { name: 'Old cafe', status: 'archived' });
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
        await checkNames(world, { [`?search=${encodeURIComponent(search)}`]: expected });
      }
      await checkNames(world, {
        '?search=cafe&includeArchived=true': ['Old cafe'],
        '?search=tea+': ['Tea'],
        '?search=caf%C3%A9+time': ['Café time'],
      });
    }),

  'filters by tags: one of those named by id, and one of those named by name': () =>
    inWorld(async (world, api) => {
      const [launch, hiring, unused] = await createTags(world, ['Launch', 'Über uns', 'Launches']);
      const [foreign] = await createTags(await newWorld(api), ['Foreign']);
      await create(world, { name: 'none' });
      await create(world, { name: 'launch', tagIds: [launch] });
      await create(world, { name: 'hiring', tagIds: [hiring] });
      await create(world, { name: 'both', tagIds: [hiring, launch] });
      const either = ['both', 'hiring', 'launch'];
      const decomposed = encodeURIComponent('ÜBER UNS'.normalize('NFD'));
      await checkNames(world, {
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
      jsonOf(await world.call('PATCH', `/tags/${launch}`, { name: 'Start' }));
      await checkNames(world, { '?tagNames=launch': [], '?tagNames=START': ['both', 'launch'] });
    }),

  'takes 100 tag names after folded duplicates are dropped, none of them blank': () =>
    inWorld(async (world) => {
      const [tag] = await createTags(world, ['Name 99']);
      await create(world, { tagIds: [tag] });
      const list = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix} ${i}`).join();
      const hundred = list(100, 'name');
      await checkNames(world, {
        [`?tagNames=${hundred}`]: ['Summer'],
        [`?tagNames=${hundred},${list(100, 'NAME')}&tagNames=${list(100, ' Name')}`]: ['Summer'],
      });
      const refused: Record<string, string> = {
        [list(101, 'name')]: 'tagNames',
        [`${hundred}&tagNames=other`]: 'tagNames',
        '': 'tagNames.0',
        '%20': 'tagNames.0',
        ',a': 'tagNames.0',
        'a,,b': 'tagNames.1',
        'a&tagNames=': 'tagNames.1',
        'a,%00': 'tagNames.1',
      };
      for (const [query, fault] of Object.entries(refused)) {
        assertFaults(await world.call('GET', `/campaigns?tagNames=${query}`), [fault], query);
      }
    }),

  'filters by the member who created': () =>
    inWorld(async (world, api) => {
      const colleague = await world.addMember({ role: 'admin' });
      const keys = { admin: world.key, colleague: await world.addKey(colleague.id), nobody: await world.addKey() };
      for (const [name, key] of Object.entries(keys)) {
        jsonOf(await api.call('POST', '/campaigns', { key, body: { ...campaignBody, name } }), 201);
      }
      await checkNames(world, {
        [`?userId=${world.admin.id}`]: ['admin'],
        [`?userId=${colleague.id}`]: ['colleague'],
        [`?userId=${colleague.id.toUpperCase()}`]: ['colleague'],
        [`?userId=${UNKNOWN_ID}`]: [],
        [`?userId=${(await newWorld(api)).admin.id}`]: [],
      });
      for (const userId of ['', 'x', 'null', `${UNKNOWN_ID},${UNKNOWN_ID}`, `%20${UNKNOWN_ID}`]) {
        assertFaults(await world.call('GET', `/campaigns?userId=${userId}`), ['userId'], userId);
      }
    }),

  'filters by the domain in its normal form, archived or not': () =>
    inWorld(async (world, api) => {
      const slug = 'xn--bcher-kva.example';
      for (const domain of [slug, 'go.example']) jsonOf(await world.call('POST', '/domains', { slug: domain }), 201);
      await create(world, { name: 'none' });
      await create(world, { name: 'books', domain: slug });
      await create(world, { name: 'go', domain: 'GO.example' });
      const other = await newWorld(api);
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
      await checkNames(world, cases);
      jsonOf(await world.call('POST', '/domains', { slug, archived: true }));
      await checkNames(world, cases);
      for (const domain of ['', '%20', '%00', 'a.b&domain=a.b']) {
        assertFaults(await world.call('GET', `/campaigns?domain=${domain}`), ['domain'], domain);
      }
    }),

  'holds all filters together': async () => {
    const now = Date.parse('2026-06-10T12:00:00Z');
    await inWorld(
      async (world, api) => {
        const [a, b] = await createTags(world, ['A', 'B']);
        for (const slug of ['a.example', 'b.example']) jsonOf(await world.call('POST', '/domains', { slug }), 201);
        const match = {
          name: 'match',
          tagIds: [a, b],
          domain: 'a.example',
          status: 'archived',
          description: 'found',
        };
        await create(world, match);
        const others = [
          { tagIds: [a] },
          { tagIds: [b] },
          { domain: 'b.example' },
          { domain: null },
          { description: 'lost' },
          { startDate: '2026-06-11' },
          { endDate: '2026-06-09' },
        ];
        for (const other of others) await create(world, { ...match, name: JSON.stringify(other), ...other });
        const nobody = { key: await world.addKey(), body: { ...campaignBody, ...match, name: 'of nobody' } };
        jsonOf(await api.call('POST', '/campaigns', nobody), 201);
        const userId = world.admin.id;
        const query = `?tagIds=${a}&tagNames=b&domain=a.example&userId=${userId}&search=FOUND&filter=active`;
        await checkNames(world, {
          [`${query}&includeArchived=true&sortBy=startDate`]: ['match'],
          [`${query}&includeArchived=true&limit=1&page=2`]: [],
          [query]: [],
        });
      },
      { now: () => now },
    );
  },
});
