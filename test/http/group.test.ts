import assert from 'node:assert/strict';
import { assertConflict, assertFaults, jsonOf, UNKNOWN_ID, UUID_V7 } from '../support/expected-responses.ts';
import { inWorld, newWorld, type World } from '../support/fixture.ts';
import { textsAround } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const create = async ({ call }: World, body: object) => jsonOf(await call('POST', '/groups', body), 201);

suite('POST /groups', {
  'makes a group without members and returns its four fields': () =>
    inWorld(
      async (world) => {
        const bodies = [{ name: ' Sales ' }, { name: 'Marketing', description: 'Who tells our story' }];
        for (const body of bodies) {
          const group = await create(world, body);
          const createdAt = '2026-01-31T09:30:00.000Z';
          assert.deepEqual(group, { id: group.id, name: body.name.trim(), count: 0, createdAt });
          assert.match(group.id, UUID_V7);
        }
      },
      { now: () => Date.parse('2026-01-31T09:30:00Z') },
    ),

  'takes a name of 1 to 190 code points': () =>
    inWorld(async (_, api) => {
      const { taken, refused } = textsAround({ min: 1, max: 190 });
      for (const name of taken) assert.equal((await create(await newWorld(api), { name })).name, name.trim());
      const { call } = await newWorld(api);
      for (const name of refused) assertFaults(await call('POST', '/groups', { name }), ['name'], name);
      await create(await newWorld(api), { name: 'North, South' });
    }),

  'takes a description of at most 5000 code points': () =>
    inWorld(async (world) => {
      const { taken, refused } = textsAround({ max: 5000 });
      for (const [at, description] of taken.entries()) await create(world, { name: `Group ${at}`, description });
      for (const description of refused) {
        assertFaults(await world.call('POST', '/groups', { name: 'Sales', description }), ['description']);
      }
    }),

  'names every field that is missing, wrong or unknown': () =>
    inWorld(async ({ call }) => {
      const cases: readonly [body: object, faults: string[]][] = [
        [{}, ['name']],
        [{ name: null }, ['name']],
        [{ name: 1, description: 1 }, ['name', 'description']],
        [{ name: [], description: null }, ['name', 'description']],
        [{ name: 'Sales', description: ['a'] }, ['description']],
        [{ name: '', count: 3, createdAt: '2026-01-31', id: UNKNOWN_ID }, ['count', 'createdAt', 'id', 'name']],
      ];
      for (const [body, faults] of cases) assertFaults(await call('POST', '/groups', body), faults);
    }),

  'refuses a name that the workspace has, whatever the case': () =>
    inWorld(async (_, api) => {
      const same = [
        ['Sales', 'Sales'],
        ['Sales', ' SALES '],
        ['Größe', 'GRÖßE'.normalize('NFD')],
        ['ΟΔΟΣ', 'οδος'],
        ['οδος', 'οδοσ'],
      ] as const;
      for (const [first, second] of same) {
        const world = await newWorld(api);
        await create(world, { name: first });
        assertConflict(await world.call('POST', '/groups', { name: second, description: 'Another one' }), second);
        await create(await newWorld(api), { name: second });
      }
    }),

  'lets names stand beside each other that differ by more than case': () =>
    inWorld(async (world) => {
      for (const name of ['Malaga', 'Málaga', 'Mälaga', 'Straße', 'STRASSE']) await create(world, { name });
    }),
});
