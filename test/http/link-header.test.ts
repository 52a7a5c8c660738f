import assert from 'node:assert/strict';
import { assertFaults, jsonOf, UNKNOWN_ID, valuesOf } from '../support/expected-responses.ts';
import { inWorld, type World } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import type { Answer, Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const MAX_HEADER_BYTES = 8_192;

/** Asks with Node's fetch, which rejects headers of more than 16 KB. No reply comes near. */
async function get({ call }: World, path: string): Promise<Answer> {
  const answer = await call('GET', path);
  const bytes = [...answer.headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 20);
  assert.ok(bytes < MAX_HEADER_BYTES, `${bytes} bytes of headers`);
  return answer;
}

/** The references of a Link header by their relations. */
const linksOf = ({ headers }: Answer): Record<string, string> => {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g);
  return Object.fromEntries([...links].map(([, reference, relation]) => [relation, reference]));
};

/** Other ids than any record has. */
const ids = (count: number) =>
  Array.from({ length: count }, (_, i) => UNKNOWN_ID.slice(0, -3) + String(i).padStart(3, '0'));

/** Makes three records that a list of 100 ids finds, and returns that list's path with the parameter that takes ids. */
type IdList = (
  api: Api,
  world: World,
) => Promise<{ readonly path: string; readonly name: string; readonly id: string[] }>;

const idLists: Readonly<Record<string, IdList>> = {
  campaigns: async (_, { call }) => {
    const { id } = jsonOf(await call('POST', '/tags', { name: 'Launch' }), 201);
    for (let i = 0; i < 3; i++) jsonOf(await call('POST', '/campaigns', { ...campaignBody, tagIds: [id] }), 201);
    return { path: '/campaigns', name: 'tagIds', id: [id] };
  },
  'inspiration questions': async (_, { call }) => {
    const { id } = jsonOf(await call('POST', '/groups', { name: 'Sales' }), 201);
    for (let i = 0; i < 3; i++)
      jsonOf(await call('POST', '/inspiration-questions', { question: 'What did you learn?', groups: [id] }), 201);
    return { path: '/inspiration-questions', name: 'groupIds', id: [id] };
  },
  'content pillars': async ({ app }, { workspaceId, admin }) => {
    const pillar = (title: string) =>
      app.contentPillars.create(workspaceId, { authorId: admin.id, title, color: 'red' });
    const pillars = [await pillar('one'), await pillar('two'), await pillar('three')];
    return { path: '/content-pillars', name: 'ids', id: pillars.map(({ id }) => id) };
  },
};

/** Follows the links from the second page: to the next, which is the last, and back to the first. */
async function followBoth(world: World, second: Answer): Promise<void> {
  const { next, prev } = linksOf(second);
  const last = await get(world, next as string);
  const first = await get(world, prev as string);
  assert.equal(new Set([first, second, last].flatMap((answer) => valuesOf(answer, 'id'))).size, 3);
  assert.deepEqual([Object.keys(linksOf(first)), Object.keys(linksOf(last))], [['next'], ['prev']]);
}

suite('links to other pages', {
  'both fit with 100 ids in any form': () =>
    inWorld(async (world, api) => {
      for (const make of Object.values(idLists)) {
        const { path, name, id } = await make(api, world);
        const all = [...ids(100 - id.length), ...id];
        const repeated = all.map((each) => `${name}=${each}&`).join('');
        for (const query of [repeated, `${name}=${all}&`, `${name}=${all.join('%2C')}&`]) {
          await followBoth(world, await get(world, `${path}?${query}pageSize=1&page=2`));
        }
      }
    }),

  'omit duplicates': () =>
    inWorld(async (world, api) => {
      for (const make of Object.values(idLists)) {
        const { path, name, id } = await make(api, world);
        const query = Array.from({ length: 280 }, (_, i) => `${name}=${id[i % id.length]}&`).join('');
        await followBoth(world, await get(world, `${path}?${query}pageSize=1&page=2`));
      }
    }),

  'omit the previous page if only the next one fits': () =>
    inWorld(async (world, api) => {
      const campaigns = idLists.campaigns as IdList;
      const { id } = await campaigns(api, world);
      const names = Array.from({ length: 50 }, (_, i) => `tagNames=${i}${encodeURIComponent('名'.repeat(10))}&`).join(
        '',
      );
      const query = `${names}tagNames=launch&tagIds=${id}&pageSize=1`;
      const answer = await get(world, `/campaigns?${query}&page=2`);
      assert.deepEqual(Object.keys(linksOf(answer)), ['next']);
      const last = await get(world, linksOf(answer).next as string);
      assert.deepEqual([valuesOf(last, 'id').length, Object.keys(linksOf(last))], [1, ['prev']]);
    }),

  'reject a query that is too long for them if there is another page': () =>
    inWorld(async (world, api) => {
      await (idLists.campaigns as IdList)(api, world);
      const names = Array.from({ length: 99 }, (_, i) => `${String(i).padStart(2, '0')}${'名前'.repeat(7)}`);
      const query = [...names, 'launch'].map((name) => `tagNames=${encodeURIComponent(name)}`).join('&');
      assert.ok(query.length > 13_000);
      assert.equal(valuesOf(await get(world, `/campaigns?${query}`), 'id').length, 3);
      const rejected = await get(world, `/campaigns?search=&${query}&pageSize=2`);
      assertFaults(rejected, ['tagNames']);
      assert.match(rejected.json.error.message, /too long for the link to the next page/);
      const last = await get(world, `/campaigns?${query}&pageSize=2&page=2`);
      assert.deepEqual([valuesOf(last, 'id').length, linksOf(last)], [1, {}]);
    }),

  'stay short on every list with a long search': () =>
    inWorld(async (world) => {
      for (const path of ['/campaigns', '/inspiration-questions', '/content-pillars', '/domains']) {
        for (const search of ['名'.repeat(200), ' '.repeat(4_000), `x${' '.repeat(4_000)}`]) {
          const answer = await get(world, `${path}?search=${encodeURIComponent(search)}&page=2`);
          assert.deepEqual(jsonOf(answer), []);
        }
      }
    }),
});
