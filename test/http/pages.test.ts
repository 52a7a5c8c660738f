import assert from 'node:assert/strict';
import { assertFaults, jsonOf, valuesOf } from '../support/expected-responses.ts';
import { inWorld, type World } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import type { Answer, Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

interface List {
  readonly path: string;
  readonly defaultSize: number;
  readonly maximum: number;
  /** Makes the record of a number. */
  make(api: Api, world: World, number: number): Promise<unknown>;
}

const LISTS: readonly List[] = [
  {
    path: '/campaigns',
    defaultSize: 25,
    maximum: 25,
    make: (_, { call }, number) => call('POST', '/campaigns', { ...campaignBody, name: `Name ${number}` }),
  },
  {
    path: '/inspiration-questions',
    defaultSize: 50,
    maximum: 100,
    make: ({ app }, { workspaceId }, number) =>
      app.inspirationQuestions.create(workspaceId, { question: `What is name ${number}?` }),
  },
  {
    path: '/content-pillars',
    defaultSize: 50,
    maximum: 100,
    make: ({ app }, { workspaceId, admin }, number) =>
      app.contentPillars.create(workspaceId, { authorId: admin.id, title: `Name ${number}`, color: 'red' }),
  },
  {
    path: '/domains',
    defaultSize: 50,
    maximum: 50,
    make: ({ app }, { workspaceId }, number) =>
      app.domains.createOrArchive(workspaceId, { slug: `name-${number}.example` }),
  },
];

/** Makes so many records, and returns their ids in the order of the list. */
const fill = async (api: Api, world: World, list: List, count: number): Promise<unknown[]> => {
  for (let number = 0; number < count; number++) await list.make(api, world, number);
  const pages = [1, 2, 3, 4, 5].map((page) => world.call('GET', `${list.path}?page=${page}&pageSize=${list.maximum}`));
  const listed = (await Promise.all(pages)).flatMap((answer) => valuesOf(answer, 'id'));
  assert.equal(listed.length, count);
  return listed;
};

/** The references of a Link header by their relations. */
const linksOf = ({ headers }: Answer): Record<string, string> => {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g);
  return Object.fromEntries([...links].map(([, reference, relation]) => [relation, reference]));
};

/** Everything in one millisecond, so that the id alone tells the order. */
const oneMoment = { now: () => Date.parse('2026-01-31T09:00:00Z') };

suite('pages', {
  'hold as many records as their list says by default and at most': () =>
    inWorld(async (world, api) => {
      for (const list of LISTS) {
        const { path, defaultSize, maximum } = list;
        const listed = await fill(api, world, list, maximum + 1);
        const sizes = { '': defaultSize, [`?pageSize=${maximum}`]: maximum, '?pageSize=1': 1, '?page=1': defaultSize };
        for (const [query, size] of Object.entries(sizes)) {
          assert.deepEqual(valuesOf(await world.call('GET', path + query), 'id'), listed.slice(0, size), path + query);
        }
        const second = valuesOf(await world.call('GET', `${path}?page=2`), 'id');
        assert.deepEqual(second, listed.slice(defaultSize, 2 * defaultSize));
        for (const size of [0, maximum + 1, -1]) {
          assertFaults(await world.call('GET', `${path}?pageSize=${size}`), ['pageSize'], path);
        }
      }
    }),

  'take digits alone as integers above 0': () =>
    inWorld(async ({ call }) => {
      const places = LISTS.flatMap(({ path }) => [`${path}?page=`, `${path}?pageSize=`]);
      const refused = [
        ...['', '0', '00', '-1', '-0', '%2B1', '+1', '1+', '01', '05', '1.0', '1.5', '1.', '1e1', '0x1', '1_0', '1,2'],
        ...['9007199254740992', '99999999999999999999', 'NaN', 'Infinity', 'one', '%D9%A1', 'null'],
      ];
      for (const place of [...places, '/campaigns?limit=']) {
        jsonOf(await call('GET', `${place}1`));
        const name = place.slice(place.indexOf('?') + 1, -1);
        for (const value of refused) assertFaults(await call('GET', place + value), [name], place + value);
      }
      for (const place of [...places.filter((path) => path.endsWith('page=')), '/campaigns?limit=']) {
        assert.deepEqual(jsonOf(await call('GET', `${place}9007199254740991`)), []);
      }
    }),

  'link to the next while it holds something, and to the previous from page 2 on': () =>
    inWorld(async (world, api) => {
      for (const list of LISTS) {
        const { path } = list;
        const listed = await fill(api, world, list, 4);
        const cases: readonly [query: string, size: number, links: Record<string, string>][] = [
          ['?pageSize=2', 2, { next: '?pageSize=2&page=2' }],
          ['?pageSize=2&page=1', 2, { next: '?pageSize=2&page=2' }],
          ['?pageSize=2&page=2', 2, { prev: '?pageSize=2&page=1' }],
          ['?page=2&pageSize=3', 1, { prev: '?pageSize=3&page=1' }],
          ['?pageSize=1&page=3', 1, { next: '?pageSize=1&page=4', prev: '?pageSize=1&page=2' }],
          ['?pageSize=2&page=3', 0, { prev: '?pageSize=2&page=2' }],
          ['?page=9007199254740991', 0, { prev: '?page=9007199254740990' }],
          ['?pageSize=4', 4, {}],
          ['', 4, {}],
        ];
        for (const [query, size, links] of cases) {
          const answer = await world.call('GET', path + query);
          assert.equal(valuesOf(answer, 'id').length, size, path + query);
          const expected = Object.entries(links).map(([relation, reference]) => [relation, path + reference]);
          assert.deepEqual(linksOf(answer), Object.fromEntries(expected), path + query);
          if (expected.length === 0) assert.equal(answer.headers.get('Link'), null);
        }
        let [walked, reference]: [unknown[], string | undefined] = [[], `${path}?pageSize=3`];
        while (reference) {
          const answer = await world.call('GET', reference);
          walked = [...walked, ...valuesOf(answer, 'id')];
          reference = linksOf(answer).next;
        }
        assert.deepEqual(walked, listed);
      }
    }, oneMoment),

  'link with the other parameters as they were given': () =>
    inWorld(async (world, api) => {
      const [campaigns] = LISTS as [List];
      await fill(api, world, campaigns, 3);
      const tagIds = [1, 2].map((digit) => `0190a000-0000-7000-8000-00000000000${digit}`);
      const cases = [
        'search=name&includeArchived=true&sortBy=startDate',
        'search=%20NAME%09',
        'includeArchived=false&search=Name+',
        'search=',
      ];
      for (const query of cases) {
        const { next, prev } = linksOf(await world.call('GET', `/campaigns?${query}&page=2&pageSize=1`));
        for (const [reference, page] of [
          [next, 3],
          [prev, 1],
        ] as const) {
          const parameters = new URLSearchParams(reference?.replace('/campaigns?', ''));
          assert.deepEqual([...parameters], [...new URLSearchParams(`${query}&pageSize=1&page=${page}`)], query);
          assert.equal(valuesOf(await world.call('GET', reference as string), 'id').length, 1);
        }
      }
      const odd = `tagIds=${tagIds[0]}&tagIds=${tagIds[1]},${tagIds[0]}&search=${encodeURIComponent('a&b="ü"<x>, %')}`;
      const { prev } = linksOf(await world.call('GET', `/campaigns?page=2&${odd}`));
      const parameters = new URLSearchParams(prev?.replace('/campaigns?', ''));
      assert.deepEqual([...parameters], [...new URLSearchParams(`${odd}&page=1`)]);
      assert.match(prev as string, /^[\x21-\x7e]+$/);
    }),

  'cover a list once in every order, though all was made in the same millisecond': () =>
    inWorld(async (world, api) => {
      const orders: Record<string, string[]> = {
        '/campaigns': ['', '&sortBy=updatedAt', '&sortBy=startDate'],
        '/content-pillars': ['', '&sortOrder=asc', '&sortBy=title', '&sortBy=title&sortOrder=asc'],
      };
      for (const list of LISTS) {
        const listed = await fill(api, world, list, 5);
        for (const order of orders[list.path] ?? ['']) {
          const pages = [1, 2, 3].map((page) => world.call('GET', `${list.path}?pageSize=2&page=${page}${order}`));
          const ids = (await Promise.all(pages)).flatMap((answer) => valuesOf(answer, 'id'));
          const isAscending = order.includes('asc');
          assert.deepEqual(ids, isAscending ? listed.toReversed() : listed, list.path + order);
        }
      }
    }, oneMoment),

  'skip no record when others are made at the front': () =>
    inWorld(async (world, api) => {
      for (const list of LISTS) {
        const listed = await fill(api, world, list, 4);
        const first = valuesOf(await world.call('GET', `${list.path}?pageSize=2`), 'id');
        await list.make(api, world, 100);
        const second = valuesOf(await world.call('GET', `${list.path}?pageSize=2&page=2`), 'id');
        assert.deepEqual([first, second], [listed.slice(0, 2), listed.slice(1, 3)]);
      }
    }),

  'end with the limit of a listing of campaigns, counted over all pages': () =>
    inWorld(async (world, api) => {
      const [campaigns] = LISTS as [List];
      const listed = await fill(api, world, campaigns, 30);
      const cases: readonly [query: string, from: number, to: number, relations: string[]][] = [
        ['limit=1', 0, 1, []],
        ['limit=25', 0, 25, []],
        ['limit=26', 0, 25, ['next']],
        ['limit=26&page=2', 25, 26, ['prev']],
        ['limit=30&page=2', 25, 30, ['prev']],
        ['limit=31&page=2', 25, 30, ['prev']],
        ['limit=5&pageSize=2', 0, 2, ['next']],
        ['limit=5&pageSize=2&page=2', 2, 4, ['next', 'prev']],
        ['limit=5&pageSize=2&page=3', 4, 5, ['prev']],
        ['limit=5&pageSize=2&page=4', 0, 0, ['prev']],
        ['limit=4&pageSize=2&page=2', 2, 4, ['prev']],
        ['limit=4&pageSize=2&page=3', 0, 0, ['prev']],
        ['limit=2&search=name%202&pageSize=1&page=2', 1, 2, ['prev']],
        ['limit=1000', 0, 25, ['next']],
      ];
      for (const [query, from, to, relations] of cases) {
        const answer = await world.call('GET', `/campaigns?${query}`);
        assert.deepEqual(valuesOf(answer, 'id'), listed.slice(from, to), query);
        assert.deepEqual(Object.keys(linksOf(answer)), relations, query);
      }
    }),
});
