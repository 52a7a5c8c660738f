import assert from 'node:assert/strict';
import { assertInvalidFields, fieldValuesOf, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import type { Api, ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const MAX_HEADER_BYTES = 8_192;

/** Sends a GET, and asserts that the response headers are well below the 16 KB that Node's fetch accepts. */
async function get({ call }: Fixture, path: string): Promise<ApiResponse> {
  const response = await call('GET', path);
  const bytes = [...response.headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 20);
  assert.ok(bytes < MAX_HEADER_BYTES, `${bytes} bytes of headers`);
  return response;
}

/** Returns the URLs of a Link header by their relations: `next` and `prev`. */
const linksOf = ({ headers }: ApiResponse): Record<string, string> => {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g);
  return Object.fromEntries([...links].map(([, url, relation]) => [relation, url]));
};

/** Returns ids that no record has. */
const unusedIds = (count: number) =>
  Array.from({ length: count }, (_, i) => UNKNOWN_ID.slice(0, -3) + String(i).padStart(3, '0'));

/** Creates three records. Returns the path of their list, the name of its parameter for ids, and the ids that find them. */
type CreateIdList = (
  api: Api,
  fixture: Fixture,
) => Promise<{ readonly path: string; readonly name: string; readonly usedIds: string[] }>;

const idLists: Readonly<Record<string, CreateIdList>> = {
  campaigns: async (_, { call }) => {
    const { id } = jsonOf(await call('POST', '/tags', { name: 'Launch' }), 201);
    for (let i = 0; i < 3; i++) jsonOf(await call('POST', '/campaigns', { ...campaignBody, tagIds: [id] }), 201);
    return { path: '/campaigns', name: 'tagIds', usedIds: [id] };
  },
  'inspiration questions': async (_, { call }) => {
    const { id } = jsonOf(await call('POST', '/groups', { name: 'Sales' }), 201);
    for (let i = 0; i < 3; i++)
      jsonOf(await call('POST', '/inspiration-questions', { question: 'What did you learn?', groups: [id] }), 201);
    return { path: '/inspiration-questions', name: 'groupIds', usedIds: [id] };
  },
  'content pillars': async ({ app }, { workspaceId, admin }) => {
    const pillar = (title: string) =>
      app.contentPillars.create(workspaceId, { authorId: admin.id, title, color: 'red' });
    const pillars = [await pillar('one'), await pillar('two'), await pillar('three')];
    return { path: '/content-pillars', name: 'ids', usedIds: pillars.map(({ id }) => id) };
  },
};

/** Follows both links of the second page, and asserts that they lead to the first and to the last page. */
async function followBoth(fixture: Fixture, second: ApiResponse): Promise<void> {
  const { next, prev } = linksOf(second);
  const last = await get(fixture, next as string);
  const first = await get(fixture, prev as string);
  assert.equal(new Set([first, second, last].flatMap((response) => fieldValuesOf(response, 'id'))).size, 3);
  assert.deepEqual([Object.keys(linksOf(first)), Object.keys(linksOf(last))], [['next'], ['prev']]);
}

suite('links to other pages', {
  'both fit into the header for 100 ids, repeated or comma-separated': () =>
    withFixture(async (fixture, api) => {
      for (const create of Object.values(idLists)) {
        const { path, name, usedIds } = await create(api, fixture);
        const all = [...unusedIds(100 - usedIds.length), ...usedIds];
        const repeated = all.map((id) => `${name}=${id}&`).join('');
        for (const query of [repeated, `${name}=${all}&`, `${name}=${all.join('%2C')}&`]) {
          await followBoth(fixture, await get(fixture, `${path}?${query}pageSize=1&page=2`));
        }
      }
    }),

  'omit duplicate ids': () =>
    withFixture(async (fixture, api) => {
      for (const create of Object.values(idLists)) {
        const { path, name, usedIds } = await create(api, fixture);
        const query = Array.from({ length: 280 }, (_, i) => `${name}=${usedIds[i % usedIds.length]}&`).join('');
        await followBoth(fixture, await get(fixture, `${path}?${query}pageSize=1&page=2`));
      }
    }),

  'omit the previous page if only the link to the next page fits': () =>
    withFixture(async (fixture, api) => {
      const createCampaigns = idLists.campaigns as CreateIdList;
      const { usedIds } = await createCampaigns(api, fixture);
      const names = Array.from({ length: 50 }, (_, i) => `tagNames=${i}${encodeURIComponent('名'.repeat(10))}&`).join(
        '',
      );
      const query = `${names}tagNames=launch&tagIds=${usedIds}&pageSize=1`;
      const response = await get(fixture, `/campaigns?${query}&page=2`);
      assert.deepEqual(Object.keys(linksOf(response)), ['next']);
      const last = await get(fixture, linksOf(response).next as string);
      assert.deepEqual([fieldValuesOf(last, 'id').length, Object.keys(linksOf(last))], [1, ['prev']]);
    }),

  'cause a 422 if there is a next page and the query is too long for a link to it': () =>
    withFixture(async (fixture, api) => {
      await (idLists.campaigns as CreateIdList)(api, fixture);
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
    withFixture(async (fixture) => {
      for (const path of ['/campaigns', '/inspiration-questions', '/content-pillars', '/domains']) {
        for (const search of ['名'.repeat(200), ' '.repeat(4_000), `x${' '.repeat(4_000)}`]) {
          const response = await get(fixture, `${path}?search=${encodeURIComponent(search)}&page=2`);
          assert.deepEqual(jsonOf(response), []);
        }
      }
    }),
});
