import assert from 'node:assert/strict';
import { assertInvalidFields, fieldValuesOf, jsonOf } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import type { Api, ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';

interface List {
  readonly path: string;
  readonly defaultSize: number;
  readonly maximum: number;
  /** Creates a record. `number` makes its name unique. */
  create(api: Api, fixture: Fixture, number: number): Promise<unknown>;
}

const LISTS: readonly List[] = [
  {
    path: '/campaigns',
    defaultSize: 25,
    maximum: 25,
    create: (_, { call }, number) => call('POST', '/campaigns', { ...campaignBody, name: `Name ${number}` }),
  },
  {
    path: '/inspiration-questions',
    defaultSize: 50,
    maximum: 100,
    create: ({ app }, { workspaceId }, number) =>
      app.inspirationQuestions.create(workspaceId, { question: `What is name ${number}?` }),
  },
  {
    path: '/content-pillars',
    defaultSize: 50,
    maximum: 100,
    create: ({ app }, { workspaceId, admin }, number) =>
      app.contentPillars.create(workspaceId, { authorId: admin.id, title: `Name ${number}`, color: 'red' }),
  },
  {
    path: '/domains',
    defaultSize: 50,
    maximum: 50,
    create: ({ app }, { workspaceId }, number) =>
      app.domains.createOrArchive(workspaceId, { slug: `name-${number}.example` }),
  },
];

/** Creates records, and returns their ids in the order of the list. */
const createRecords = async (api: Api, fixture: Fixture, list: List, count: number): Promise<unknown[]> => {
  for (let number = 0; number < count; number++) await list.create(api, fixture, number);
  const pages = [1, 2, 3, 4, 5].map((page) =>
    fixture.call('GET', `${list.path}?page=${page}&pageSize=${list.maximum}`),
  );
  const listed = (await Promise.all(pages)).flatMap((response) => fieldValuesOf(response, 'id'));
  assert.equal(listed.length, count);
  return listed;
};

/** Returns the URLs of a Link header by their relations: `next` and `prev`. */
const linksOf = ({ headers }: ApiResponse): Record<string, string> => {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g);
  return Object.fromEntries([...links].map(([, url, relation]) => [relation, url]));
};

/** A clock that stands still, so that only the ids determine the order. */
const FIXED_CLOCK = { now: () => Date.parse('2026-01-31T09:00:00Z') };

suite('pages', {
  'have the default and maximum sizes of their list': () =>
    withFixture(async (fixture, api) => {
      for (const list of LISTS) {
        const { path, defaultSize, maximum } = list;
        const listed = await createRecords(api, fixture, list, maximum + 1);
        const sizes = { '': defaultSize, [`?pageSize=${maximum}`]: maximum, '?pageSize=1': 1, '?page=1': defaultSize };
        for (const [query, size] of Object.entries(sizes)) {
          assert.deepEqual(
            fieldValuesOf(await fixture.call('GET', path + query), 'id'),
            listed.slice(0, size),
            path + query,
          );
        }
        const second = fieldValuesOf(await fixture.call('GET', `${path}?page=2`), 'id');
        assert.deepEqual(second, listed.slice(defaultSize, 2 * defaultSize));
        for (const size of [0, maximum + 1, -1]) {
          assertInvalidFields(await fixture.call('GET', `${path}?pageSize=${size}`), ['pageSize'], path);
        }
      }
    }),

  'accept only positive integers in decimal digits as page, pageSize and limit': () =>
    withFixture(async ({ call }) => {
      const prefixes = LISTS.flatMap(({ path }) => [`${path}?page=`, `${path}?pageSize=`]);
      const invalidValues = [
        ...['', '0', '00', '-1', '-0', '%2B1', '+1', '1+', '01', '05', '1.0', '1.5', '1.', '1e1', '0x1', '1_0', '1,2'],
        ...['9007199254740992', '99999999999999999999', 'NaN', 'Infinity', 'one', '%D9%A1', 'null'],
      ];
      for (const prefix of [...prefixes, '/campaigns?limit=']) {
        jsonOf(await call('GET', `${prefix}1`));
        const name = prefix.slice(prefix.indexOf('?') + 1, -1);
        for (const value of invalidValues)
          assertInvalidFields(await call('GET', prefix + value), [name], prefix + value);
      }
      for (const prefix of [...prefixes.filter((path) => path.endsWith('page=')), '/campaigns?limit=']) {
        assert.deepEqual(jsonOf(await call('GET', `${prefix}9007199254740991`)), []);
      }
    }),

  'link to the next page if it has records, and to the previous page from page 2 on': () =>
    withFixture(async (fixture, api) => {
      for (const list of LISTS) {
        const { path } = list;
        const listed = await createRecords(api, fixture, list, 4);
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
          const response = await fixture.call('GET', path + query);
          assert.equal(fieldValuesOf(response, 'id').length, size, path + query);
          const expected = Object.entries(links).map(([relation, linkQuery]) => [relation, path + linkQuery]);
          assert.deepEqual(linksOf(response), Object.fromEntries(expected), path + query);
          if (expected.length === 0) assert.equal(response.headers.get('Link'), null);
        }
        let [visited, url]: [unknown[], string | undefined] = [[], `${path}?pageSize=3`];
        while (url) {
          const response = await fixture.call('GET', url);
          visited = [...visited, ...fieldValuesOf(response, 'id')];
          url = linksOf(response).next;
        }
        assert.deepEqual(visited, listed);
      }
    }, FIXED_CLOCK),

  'link to other pages with all other parameters as they were sent': () =>
    withFixture(async (fixture, api) => {
      const [campaigns] = LISTS as [List];
      await createRecords(api, fixture, campaigns, 3);
      const tagIds = [1, 2].map((digit) => `0190a000-0000-7000-8000-00000000000${digit}`);
      const cases = [
        'search=name&includeArchived=true&sortBy=startDate',
        'search=%20NAME%09',
        'includeArchived=false&search=Name+',
        'search=',
      ];
      for (const query of cases) {
        const { next, prev } = linksOf(await fixture.call('GET', `/campaigns?${query}&page=2&pageSize=1`));
        for (const [url, page] of [
          [next, 3],
          [prev, 1],
        ] as const) {
          const parameters = new URLSearchParams(url?.replace('/campaigns?', ''));
          assert.deepEqual([...parameters], [...new URLSearchParams(`${query}&pageSize=1&page=${page}`)], query);
          assert.equal(fieldValuesOf(await fixture.call('GET', url as string), 'id').length, 1);
        }
      }
      const odd = `tagIds=${tagIds[0]}&tagIds=${tagIds[1]},${tagIds[0]}&search=${encodeURIComponent('a&b="ü"<x>, %')}`;
      const { prev } = linksOf(await fixture.call('GET', `/campaigns?page=2&${odd}`));
      const parameters = new URLSearchParams(prev?.replace('/campaigns?', ''));
      assert.deepEqual([...parameters], [...new URLSearchParams(`${odd}&page=1`)]);
      assert.match(prev as string, /^[\x21-\x7e]+$/);
    }),

  'contain each record exactly once in every order, even if all were created in the same millisecond': () =>
    withFixture(async (fixture, api) => {
      const orders: Record<string, string[]> = {
        '/campaigns': ['', '&sortBy=updatedAt', '&sortBy=startDate'],
        '/content-pillars': ['', '&sortOrder=asc', '&sortBy=title', '&sortBy=title&sortOrder=asc'],
      };
      for (const list of LISTS) {
        const listed = await createRecords(api, fixture, list, 5);
        for (const order of orders[list.path] ?? ['']) {
          const pages = [1, 2, 3].map((page) => fixture.call('GET', `${list.path}?pageSize=2&page=${page}${order}`));
          const ids = (await Promise.all(pages)).flatMap((response) => fieldValuesOf(response, 'id'));
          const isAscending = order.includes('asc');
          assert.deepEqual(ids, isAscending ? listed.toReversed() : listed, list.path + order);
        }
      }
    }, FIXED_CLOCK),

  'skip no record if new records are created at the front of the list': () =>
    withFixture(async (fixture, api) => {
      for (const list of LISTS) {
        const listed = await createRecords(api, fixture, list, 4);
        const first = fieldValuesOf(await fixture.call('GET', `${list.path}?pageSize=2`), 'id');
        await list.create(api, fixture, 100);
        const second = fieldValuesOf(await fixture.call('GET', `${list.path}?pageSize=2&page=2`), 'id');
        assert.deepEqual([first, second], [listed.slice(0, 2), listed.slice(1, 3)]);
      }
    }),

  'end after as many campaigns as the query parameter limit says, counted over all pages': () =>
    withFixture(async (fixture, api) => {
      const [campaigns] = LISTS as [List];
      const listed = await createRecords(api, fixture, campaigns, 30);
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
        const response = await fixture.call('GET', `/campaigns?${query}`);
        assert.deepEqual(fieldValuesOf(response, 'id'), listed.slice(from, to), query);
        assert.deepEqual(Object.keys(linksOf(response)), relations, query);
      }
    }),
});
