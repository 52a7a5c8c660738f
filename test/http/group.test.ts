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

suite('PATCH /groups/{id}', {
  'changes the name, the description, both or nothing, and returns the group with its number of members': () =>
    withFixture(async ({ workspaceId, create, call, list }, { app }) => {
      const group = await create('/groups', { name: 'Sales' });
      await app.members.create(workspaceId, { name: 'Kim', email: 'kim@example.com', groups: [group.id] });
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
