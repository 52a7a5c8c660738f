import assert from 'node:assert/strict';
import { assertConflict, jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, withClock, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

suite('POST /groups', {
  'creates a group without members and returns its four fields': () =>
    withClock(async ({ call }) => {
      for (const body of [{ name: ' Sales ' }, { name: 'Marketing', description: 'People who tell our story' }]) {
        const group = jsonOf(await call('POST', '/groups', body), 201);
        const createdAt = '2026-01-31T09:00:00.000Z';
        assert.deepEqual(group, { id: group.id, name: body.name.trim(), count: 0, createdAt });
        assert.match(group.id, UUID_V7);
      }
    }),

  'rejects the name of another group of the workspace, ignoring case': () =>
    withFixture(async ({ call }, api) => {
      jsonOf(await call('POST', '/groups', { name: 'Größe, ΟΔΟΣ' }), 201);
      const name = ' GRÖßE, οδος'.normalize('NFD');
      assertConflict(await call('POST', '/groups', { name, description: 'Another one' }));
      jsonOf(await call('POST', '/groups', { name: 'GROSSE, οδος' }), 201);
      jsonOf(await (await createFixture(api)).call('POST', '/groups', { name }), 201);
    }),
});
