import assert from 'node:assert/strict';
import { assertConflict, assertInvalidFields, jsonOf, UNKNOWN_ID, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { textsAroundLimits } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const create = async ({ call }: Fixture, body: object) => jsonOf(await call('POST', '/groups', body), 201);

suite('POST /groups', {
  'creates a group without members and returns its four fields': () =>
    withFixture(
      async (fixture) => {
        const bodies = [{ name: ' Sales ' }, { name: 'Marketing', description: 'People who tell our story' }];
        for (const body of bodies) {
          const group = await create(fixture, body);
          const createdAt = '2026-01-31T09:30:00.000Z';
          assert.deepEqual(group, { id: group.id, name: body.name.trim(), count: 0, createdAt });
          assert.match(group.id, UUID_V7);
        }
      },
      { now: () => Date.parse('2026-01-31T09:30:00Z') },
    ),

  'accepts a name of 1 to 190 code points': () =>
    withFixture(async (_, api) => {
      const { valid, invalid } = textsAroundLimits({ min: 1, max: 190 });
      for (const name of valid) assert.equal((await create(await createFixture(api), { name })).name, name.trim());
      const { call } = await createFixture(api);
      for (const name of invalid) assertInvalidFields(await call('POST', '/groups', { name }), ['name'], name);
      await create(await createFixture(api), { name: 'North, South' });
    }),

  'accepts a description of up to 5000 code points': () =>
    withFixture(async (fixture) => {
      const { valid, invalid } = textsAroundLimits({ max: 5000 });
      for (const [at, description] of valid.entries()) await create(fixture, { name: `Group ${at}`, description });
      for (const description of invalid) {
        assertInvalidFields(await fixture.call('POST', '/groups', { name: 'Sales', description }), ['description']);
      }
    }),

  'names every field that is missing, invalid or unknown': () =>
    withFixture(async ({ call }) => {
      const cases: readonly [body: object, invalidFields: string[]][] = [
        [{}, ['name']],
        [{ name: null }, ['name']],
        [{ name: 1, description: 1 }, ['name', 'description']],
        [{ name: [], description: null }, ['name', 'description']],
        [{ name: 'Sales', description: ['a'] }, ['description']],
        [{ name: '', count: 3, createdAt: '2026-01-31', id: UNKNOWN_ID }, ['count', 'createdAt', 'id', 'name']],
      ];
      for (const [body, invalidFields] of cases)
        assertInvalidFields(await call('POST', '/groups', body), invalidFields);
    }),

  'rejects the name of another group of the workspace, ignoring case': () =>
    withFixture(async (_, api) => {
      const equalNames = [
        ['Sales', 'Sales'],
        ['Sales', ' SALES '],
        ['Größe', 'GRÖßE'.normalize('NFD')],
        ['ΟΔΟΣ', 'οδος'],
        ['οδος', 'οδοσ'],
      ] as const;
      for (const [first, second] of equalNames) {
        const fixture = await createFixture(api);
        await create(fixture, { name: first });
        assertConflict(await fixture.call('POST', '/groups', { name: second, description: 'Another one' }), second);
        await create(await createFixture(api), { name: second });
      }
    }),

  'accepts names that differ in more than case': () =>
    withFixture(async (fixture) => {
      for (const name of ['Malaga', 'Málaga', 'Mälaga', 'Straße', 'STRASSE']) await create(fixture, { name });
    }),
});
