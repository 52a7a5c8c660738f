import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

/** The lists that can be sorted by name. */
const LISTS = ['/groups', '/tags'];

/** Names in the order of their code points after folding. */
const NAMES = ['10', '2', 'Apple', 'banana', 'Éclair', 'ΟΔΟΣ', '日本', '🏆'];

/** Runs a test for each list, with a record for each name. The records are not created in the order of their names. */
function eachList(test: (path: string, fixture: Fixture) => Promise<void>): Promise<void> {
  return withFixture((_, api) =>
    each(
      LISTS.map((path) => [path, path] as const),
      async (path) => {
        const fixture = await createFixture(api);
        for (const name of [...NAMES.slice(3), ...NAMES.slice(0, 3)]) await fixture.create(path, { name });
        await test(path, fixture);
      },
    ),
  );
}

suite('a list of groups or tags', {
  'has the newest record first by default, with the same fields as the response to a GET of this record': () =>
    eachList(async (path, { call, list }) => {
      const records = await list(path);
      assert.deepEqual(await list(path, 'name'), [...NAMES.slice(0, 3).toReversed(), ...NAMES.slice(3).toReversed()]);
      for (const record of records) {
        assert.deepEqual(jsonOf(await call('GET', `${path}/${record.id}`)), record);
      }
      assert.deepEqual(await list(`${path}?sortOrder=asc`), records.toReversed());
      assert.deepEqual(await list(`${path}?sortBy=createdAt&sortOrder=desc`), records);
    }),

  'can be in the order of the names, ignoring case': () =>
    eachList(async (path, { list }) => {
      assert.deepEqual(await list(`${path}?sortBy=name&sortOrder=asc`, 'name'), NAMES);
      assert.deepEqual(await list(`${path}?sortBy=name`, 'name'), NAMES.toReversed());
      assert.deepEqual(await list(`${path}?sortBy=name&sortOrder=asc&pageSize=3&page=2`, 'name'), NAMES.slice(3, 6));
    }),
});
