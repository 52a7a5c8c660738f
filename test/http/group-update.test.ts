import assert from 'node:assert/strict';
import { assertConflict, jsonOf } from '../support/expected-responses.ts';
import { withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

suite('PATCH /groups/{id}', {
  'changes the name, the description, both or nothing, and returns the group with its number of members': () =>
    withFixture(async ({ workspaceId, create, call, list }, { app }) => {
      const group = await create('/groups', { name: 'Sales' });
      await app.members.create(workspaceId, { name: 'Kim', email: 'kim@example.com', groupIds: [group.id] });
      const path = `/groups/${group.id.toUpperCase()}`;
      for (const [body, name] of [
        [{}, 'Sales'],
        [{ description: 'People who sell' }, 'Sales'],
        [{ name: ' SALES ' }, 'SALES'],
        [{ name: 'Marketing', description: '' }, 'Marketing'],
      ] as const) {
        const changed = { ...group, name, count: 1 };
        assert.deepEqual(jsonOf(await call('PATCH', path, body)), changed);
        assert.deepEqual(jsonOf(await call('GET', path)), changed);
        assert.deepEqual(await list('/groups'), [changed]);
      }
      await create('/groups', { name: 'Sales' });
    }),

  'rejects the name of another group, ignoring case, and changes nothing': () =>
    withFixture(async ({ create, call }) => {
      await create('/groups', { name: 'Über uns' });
      const group = await create('/groups', { name: 'Sales' });
      assertConflict(await call('PATCH', `/groups/${group.id}`, { name: 'ÜBER UNS', description: 'new' }));
      assert.deepEqual(jsonOf(await call('GET', `/groups/${group.id}`)), group);
      assertConflict(await call('POST', '/groups', { name: 'sales' }));
    }),
});
