import assert from 'node:assert/strict';
import {
  assertConflict,
  assertFaults,
  assertNotFound,
  jsonOf,
  UNKNOWN_ID,
  UUID_V7,
} from '../support/expected-responses.ts';
import { inWorld, newWorld, type World } from '../support/fixture.ts';
import { textsAround } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'];

const create = async ({ call }: World, name: string) => jsonOf(await call('POST', '/tags', { name }), 201);

/** Names that are the same one, whatever the case. */
const same = [
  ['Launch', 'Launch'],
  ['Launch', 'LAUNCH'],
  ['Launch', ' launch\n'],
  ['Über uns', 'ÜBER UNS'],
  ['Café', 'Café'.normalize('NFD')],
  ['CAFÉ'.normalize('NFD'), 'café'],
  ['ΟΔΟΣ', 'οδος'],
  ['οδος', 'οδοσ'],
  ['Привет', 'ПРИВЕТ'],
  ['𐐀', '𐐨'],
] as const;

/** Names that only look alike. */
const different = [
  ['Resume', 'Résumé'],
  ['Straße', 'STRASSE'],
  ['ı', 'I'],
  ['A B', 'A  B'],
  ['ﬁ', 'fi'],
] as const;

suite('POST /tags', {
  'makes a tag and returns its three fields': () =>
    inWorld(async ({ call }) => {
      const tag = jsonOf(await call('POST', '/tags', { name: ' Summer sale ' }), 201);
      assert.deepEqual(tag, { id: tag.id, name: 'Summer sale', color: 'red' });
      assert.match(tag.id, UUID_V7);
    }),

  'gives the colour least used in the workspace, the first of them on a tie': () =>
    inWorld(async (world, api) => {
      const other = await newWorld(api);
      for (let i = 0; i < 13; i++) {
        assert.equal((await create(world, `Tag ${i}`)).color, COLORS[i % 6]);
        if (i < 2) await create(other, `Tag ${i}`);
        assertConflict(await world.call('POST', '/tags', { name: `TAG ${i}` }));
      }
      assert.equal((await create(other, 'Third')).color, 'green');
    }),

  'takes a name of 1 to 190 code points': () =>
    inWorld(async (_, api) => {
      const { taken, refused } = textsAround({ min: 1, max: 190 });
      for (const name of taken) assert.equal((await create(await newWorld(api), name)).name, name.trim());
      const { call } = await newWorld(api);
      for (const name of refused) assertFaults(await call('POST', '/tags', { name }), ['name'], name);
    }),

  'refuses a name that is missing, no string, or has a comma': () =>
    inWorld(async ({ call }) => {
      const bodies = [{}, { name: null }, { name: 1 }, { name: ['a'] }, { name: {} }, { name: 'a,b' }, { name: ',' }];
      for (const body of bodies) assertFaults(await call('POST', '/tags', body), ['name'], JSON.stringify(body));
    }),

  'takes no colour': () =>
    inWorld(async ({ call }) => {
      assertFaults(await call('POST', '/tags', { name: 'Launch', color: 'red', id: UNKNOWN_ID }), ['color', 'id']);
    }),

  'refuses a name that the workspace has, whatever the case': () =>
    inWorld(async (_, api) => {
      for (const [first, second] of same) {
        const world = await newWorld(api);
        await create(world, first);
        assertConflict(await world.call('POST', '/tags', { name: second }), second);
        await create(await newWorld(api), second);
      }
      for (const [first, second] of different) {
        const world = await newWorld(api);
        await create(world, first);
        await create(world, second);
      }
    }),
});

suite('PATCH /tags/{id}', {
  'renames a tag and keeps its colour': () =>
    inWorld(async (world) => {
      await create(world, 'Launch');
      const tag = await create(world, 'Hiring');
      const path = `/tags/${tag.id.toUpperCase()}`;
      for (const name of ['Jobs', 'JOBS', 'JOBS', 'Jobs ']) {
        assert.deepEqual(jsonOf(await world.call('PATCH', path, { name })), { ...tag, name: name.trim() });
      }
      assert.equal((await create(world, 'Hiring')).color, 'green');
      assertConflict(await world.call('POST', '/tags', { name: 'jobs' }));
    }),

  'refuses the name of another tag, whatever the case, and leaves both as they are': () =>
    inWorld(async (_, api) => {
      for (const [first, second] of same) {
        const world = await newWorld(api);
        await create(world, first);
        const { id } = await create(world, 'Another');
        assertConflict(await world.call('PATCH', `/tags/${id}`, { name: second }), second);
        assertConflict(await world.call('POST', '/tags', { name: 'Another' }));
      }
      for (const [first, second] of different) {
        const world = await newWorld(api);
        await create(world, first);
        const { id } = await create(world, 'Another');
        assert.equal(jsonOf(await world.call('PATCH', `/tags/${id}`, { name: second })).name, second);
      }
    }),

  'takes a name of 1 to 190 code points, and nothing else': () =>
    inWorld(async (world) => {
      const path = `/tags/${(await create(world, 'Launch')).id}`;
      const { taken, refused } = textsAround({ min: 1, max: 190 });
      for (const name of taken) assert.equal(jsonOf(await world.call('PATCH', path, { name })).name, name.trim());
      for (const name of [...refused, 'a,b', null, 1, true, ['a'], {}]) {
        assertFaults(await world.call('PATCH', path, { name }), ['name'], JSON.stringify(name));
      }
      assertFaults(await world.call('PATCH', path, {}), ['name']);
      assertFaults(await world.call('PATCH', path, { color: 'blue' }), ['color', 'name']);
    }),

  'answers 404 for what is no tag here, before it looks whether the name is taken, and after the shape': () =>
    inWorld(async (world, api) => {
      await create(world, 'Launch');
      const foreign = await create(await newWorld(api), 'Foreign');
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', world.admin.id]) {
        assertNotFound(await world.call('PATCH', `/tags/${id}`, { name: 'launch' }), id);
        assertFaults(await world.call('PATCH', `/tags/${id}`, { name: '' }), ['name']);
      }
    }),
});
