import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertInvalidFields, fieldValuesOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { getInputFields, lists, postOperations } from '../support/operations.ts';
import type { ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';

/** The default and the maximum page size of each list whose sizes are not the usual ones. */
const pageSizes: Readonly<Record<string, readonly [defaultSize: number, maximum: number]>> = {
  '/campaigns': [25, 25],
  '/domains': [50, 50],
};
const USUAL_PAGE_SIZES = [50, 100] as const;

/** The fields that all records have if their text is not unique, so that only the IDs determine the order. */
const sameText: Readonly<Record<string, object>> = {
  '/content-pillars': { title: 'Life' },
  '/members': { name: 'northwind' },
};

/** Creates records until a list has a number of them. Returns their IDs in the order of the list: newest first. */
async function createRecords({ create, list }: Fixture, path: string, count: number, fields: object = {}) {
  const ids: string[] = await list(path, 'id');
  while (ids.length < count) ids.unshift((await create(path, fields)).id);
  return ids;
}

/** Returns the URLs of a Link header by their relations: `next` and `prev`. */
function linksOf({ headers }: ApiResponse): Record<string, string> {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g);
  return Object.fromEntries([...links].map(([, url, relation]) => [relation, url]));
}

/**
 * Runs a test for each list of records that can be created, in a new workspace. The clock stands still, so that only
 * the IDs determine the order.
 */
function eachList(test: (path: string, fixture: Fixture) => Promise<void>): Promise<void> {
  const creatable = lists.filter(([path]) => postOperations.some(([, operation]) => operation.path === path));
  return withFixture((_, api) => each(creatable, async (_, path) => test(path, await createFixture(api))), {
    now: () => Date.parse('2026-01-31T09:00:00Z'),
  });
}

suite('pages', {
  'have the default and maximum sizes of their list': () =>
    eachList(async (path, fixture) => {
      // A workspace has fewer webhooks than a page.
      if (path === '/webhooks') return;
      const [defaultSize, maximum] = pageSizes[path] ?? USUAL_PAGE_SIZES;
      const created = await createRecords(fixture, path, maximum + 1);
      const sizes = { '': defaultSize, [`?pageSize=${maximum}`]: maximum, '?pageSize=1': 1, '?page=1': defaultSize };
      for (const [query, size] of Object.entries(sizes)) {
        assert.deepEqual(await fixture.list(path + query, 'id'), created.slice(0, size), query);
      }
      const second = await fixture.list(`${path}?page=2`, 'id');
      assert.deepEqual(second, created.slice(defaultSize, 2 * defaultSize));
      assertInvalidFields(await fixture.call('GET', `${path}?pageSize=${maximum + 1}`), ['pageSize']);
    }),

  'link to the next page if it has records, and to the previous page from page 2 on': () =>
    eachList(async (path, fixture) => {
      const created = await createRecords(fixture, path, 4);
      const cases: readonly [query: string, size: number, links: Record<string, string>][] = [
        ['?pageSize=2', 2, { next: '?pageSize=2&page=2' }],
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
        assert.equal(fieldValuesOf(response, 'id').length, size, query);
        const expected = Object.entries(links).map(([relation, linkQuery]) => [relation, path + linkQuery]);
        assert.deepEqual(linksOf(response), Object.fromEntries(expected), query);
        if (expected.length === 0) assert.equal(response.headers.get('Link'), null);
      }
      const visited: unknown[] = [];
      for (let url: string | undefined = `${path}?pageSize=3`; url; ) {
        const response: ApiResponse = await fixture.call('GET', url);
        visited.push(...fieldValuesOf(response, 'id'));
        url = linksOf(response).next;
      }
      assert.deepEqual(visited, created);
    }),

  'link to other pages with all parameters except `page` as they were sent': () =>
    withFixture(async (fixture) => {
      await createRecords(fixture, '/campaigns', 3, { name: 'Name' });
      const parametersOf = (url = '') => [...new URLSearchParams(url.replace('/campaigns?', ''))];
      for (const query of [
        'search=name&includeArchived=true&sortBy=startDate',
        'search=%20NAME%09',
        'includeArchived=false&search=Name+',
        'search=',
      ]) {
        const { next, prev } = linksOf(await fixture.call('GET', `/campaigns?${query}&page=2&pageSize=1`));
        assert.deepEqual(parametersOf(next), parametersOf(`${query}&pageSize=1&page=3`));
        assert.deepEqual(parametersOf(prev), parametersOf(`${query}&pageSize=1&page=1`));
        for (const url of [next, prev]) assert.equal((await fixture.list(url as string)).length, 1);
      }
      const [one, two] = unusedIds(2);
      const odd = `tagIds=${one}&tagIds=${two},${one}&search=${encodeURIComponent('a&b="ü"<x>, %')}`;
      const { prev } = linksOf(await fixture.call('GET', `/campaigns?page=2&${odd}`));
      assert.deepEqual(parametersOf(prev), parametersOf(`${odd}&page=1`));
      assert.match(prev as string, /^[\x21-\x7e]+$/);
    }),

  'contain each record exactly once in every order, even if all were created in the same millisecond': () =>
    eachList(async (path, fixture) => {
      const { query } = new Map(lists).get(path) as (typeof lists)[number][1];
      const values = (name: string) => getInputFields(query).find(([field]) => field === name)?.[1].enum ?? [''];
      const created = await createRecords(fixture, path, 5, sameText[path]);
      for (const sortBy of values('sortBy')) {
        for (const sortOrder of values('sortOrder')) {
          const order = `${sortBy && `&sortBy=${sortBy}`}${sortOrder && `&sortOrder=${sortOrder}`}`;
          const pages = [1, 2, 3].map((page) => fixture.list(`${path}?pageSize=2&page=${page}${order}`, 'id'));
          const expected = sortOrder === 'asc' ? created.toReversed() : created;
          assert.deepEqual((await Promise.all(pages)).flat(), expected, order);
        }
      }
    }),

  'skip no record if new records are created at the front of the list': () =>
    eachList(async (path, fixture) => {
      const created = await createRecords(fixture, path, 4);
      const first = await fixture.list(`${path}?pageSize=2`, 'id');
      await fixture.create(path);
      const second = await fixture.list(`${path}?pageSize=2&page=2`, 'id');
      assert.deepEqual([first, second], [created.slice(0, 2), created.slice(1, 3)]);
    }),

  'end after the number of campaigns in the query parameter `limit`, counted over all pages': () =>
    withFixture(async (fixture) => {
      const created = await createRecords(fixture, '/campaigns', 30);
      const cases: readonly [query: string, from: number, to: number, relations: string[]][] = [
        ['limit=1', 0, 1, []],
        ['limit=25', 0, 25, []],
        ['limit=26', 0, 25, ['next']],
        ['limit=26&page=2', 25, 26, ['prev']],
        ['limit=31&page=2', 25, 30, ['prev']],
        ['limit=5&pageSize=2&page=2', 2, 4, ['next', 'prev']],
        ['limit=5&pageSize=2&page=3', 4, 5, ['prev']],
        ['limit=5&pageSize=2&page=4', 0, 0, ['prev']],
        ['limit=4&pageSize=2&page=2', 2, 4, ['prev']],
        ['limit=4&pageSize=2&page=3', 0, 0, ['prev']],
        ['limit=1000', 0, 25, ['next']],
      ];
      for (const [query, from, to, relations] of cases) {
        const response = await fixture.call('GET', `/campaigns?${query}`);
        assert.deepEqual(fieldValuesOf(response, 'id'), created.slice(from, to), query);
        assert.deepEqual(Object.keys(linksOf(response)), relations, query);
      }
    }),
});

const MAX_HEADER_BYTES = 8_192;

/** Sends a GET, and asserts that the response headers are well below the 16 KB that Node's fetch accepts. */
async function get({ call }: Fixture, path: string): Promise<ApiResponse> {
  const response = await call('GET', path);
  const bytes = [...response.headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 20);
  assert.ok(bytes < MAX_HEADER_BYTES, `${bytes} bytes of headers`);
  return response;
}

/** Returns IDs that no record has. */
function unusedIds(count: number): string[] {
  return Array.from({ length: count }, (_, i) => UNKNOWN_ID.slice(0, -3) + String(i).padStart(3, '0'));
}

/**
 * Functions that each create three records. They return the path of the list, the name of its parameter for IDs, and
 * IDs that select the records.
 */
const idLists: readonly ((fixture: Fixture) => Promise<readonly [path: string, name: string, usedIds: string[]]>)[] = [
  async (fixture) => {
    const { id } = await fixture.create('/tags', { name: 'launch' });
    await createRecords(fixture, '/campaigns', 3, { tagIds: [id] });
    return ['/campaigns', 'tagIds', [id]];
  },
  async (fixture) => {
    const { id } = await fixture.create('/groups');
    await createRecords(fixture, '/inspiration-questions', 3, { groups: [id] });
    return ['/inspiration-questions', 'groupIds', [id]];
  },
  async (fixture) => ['/content-pillars', 'ids', await createRecords(fixture, '/content-pillars', 3)],
];

/** Requests the second page of size 1, and follows its links: one to the first page, and one to the last page. */
async function followBoth(fixture: Fixture, query: string): Promise<void> {
  const second = await get(fixture, `${query}&pageSize=1&page=2`);
  const { next, prev } = linksOf(second);
  const [first, last] = [await get(fixture, prev as string), await get(fixture, next as string)];
  assert.equal(new Set([first, second, last].flatMap((response) => fieldValuesOf(response, 'id'))).size, 3);
  assert.deepEqual([Object.keys(linksOf(first)), Object.keys(linksOf(last))], [['next'], ['prev']]);
}

suite('links to other pages', {
  'both fit into the header even if the query has 100 IDs, and omit duplicate IDs': () =>
    withFixture(async (_, api) => {
      for (const createList of idLists) {
        const fixture = await createFixture(api);
        const [path, name, usedIds] = await createList(fixture);
        const all = [...unusedIds(100 - usedIds.length), ...usedIds];
        const duplicates = Array.from({ length: 280 }, (_, i) => usedIds[i % usedIds.length]);
        for (const values of [all.join(`&${name}=`), all.join(), all.join('%2C'), duplicates.join(`&${name}=`)]) {
          await followBoth(fixture, `${path}?${name}=${values}`);
        }
      }
    }),

  'omit the previous page if only the link to the next page fits': () =>
    withFixture(async (fixture) => {
      const [, , ids] = await (idLists[0] as (typeof idLists)[number])(fixture);
      const names = Array.from({ length: 50 }, (_, i) => `tagNames=${i}${encodeURIComponent('名'.repeat(10))}&`);
      const query = `${names.join('')}tagNames=launch&tagIds=${ids}&pageSize=1`;
      const response = await get(fixture, `/campaigns?${query}&page=2`);
      assert.deepEqual(Object.keys(linksOf(response)), ['next']);
      const last = await get(fixture, linksOf(response).next as string);
      assert.deepEqual([fieldValuesOf(last, 'id').length, Object.keys(linksOf(last))], [1, ['prev']]);
    }),

  'cause a 422 if the query is too long for the link to an existing next page': () =>
    withFixture(async (fixture) => {
      await (idLists[0] as (typeof idLists)[number])(fixture);
      const names = Array.from({ length: 99 }, (_, i) => `${String(i).padStart(2, '0')}${'名前'.repeat(7)}`);
      const query = [...names, 'launch'].map((name) => `tagNames=${encodeURIComponent(name)}`).join('&');
      assert.ok(query.length > 13_000);
      assert.equal(fieldValuesOf(await get(fixture, `/campaigns?${query}`), 'id').length, 3);
      const rejected = await get(fixture, `/campaigns?search=&${query}&pageSize=2`);
      assertInvalidFields(rejected, ['tagNames']);
      assert.match(rejected.json.error.message, /too long for the link to the next page/);
      const last = await get(fixture, `/campaigns?${query}&pageSize=2&page=2`);
      assert.deepEqual([fieldValuesOf(last, 'id').length, linksOf(last)], [1, {}]);
    }),

  'stay short on every list with a long search': () =>
    eachList(async (path, fixture) => {
      if (!('search' in (new Map(lists).get(path)?.query.shape ?? {}))) return;
      for (const search of ['名'.repeat(200), ' '.repeat(4_000), `x${' '.repeat(4_000)}`]) {
        const response = await get(fixture, `${path}?search=${encodeURIComponent(search)}&page=2`);
        assert.equal(response.text, '[]');
      }
    }),
});
