import assert from 'node:assert/strict';
import { formatTimestamp } from '../../core/shared/date.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { createFixture, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

suite('GET /me', {
  'returns the workspace, the member with the IDs of their groups, and the key without its secret': () =>
    withFixture(async ({ workspaceId }, api) => {
      const { id: groupId } = await api.app.groups.create(workspaceId, { name: 'Lisbon' });
      const fields = {
        name: 'Ada',
        email: 'ada@example.com',
        seatType: 'thought_leader',
        groups: [groupId],
        invitation: 'accepted',
      } as const;
      const member = await api.app.members.create(workspaceId, fields);
      const expiresAt = formatTimestamp(Date.now() + 60_000);
      const key = { memberId: member.id, label: 'Intranet', access: 'read', expiresAt } as const;
      const { apiKey, secret } = await api.app.apiKeys.create(workspaceId, key);
      assert.deepEqual(jsonOf(await api.call('GET', '/me', { key: secret })), {
        workspace: { id: workspaceId, name: 'northwind' },
        member: {
          id: member.id,
          name: 'Ada',
          email: 'ada@example.com',
          role: 'member',
          seatType: 'thought_leader',
          groups: [groupId],
          invitation: 'accepted',
          invitationExpiresAt: null,
        },
        key: { id: apiKey.id, label: 'Intranet', access: 'read', expiresAt },
      });
    }),

  'returns no member, an empty label and no expiry if the key has none': () =>
    withFixture(async (_, api) => {
      const { workspaceId } = await createFixture(api);
      const { apiKey, secret } = await api.app.apiKeys.create(workspaceId, {});
      assert.deepEqual(jsonOf(await api.call('GET', '/me', { key: secret })), {
        workspace: { id: workspaceId, name: 'northwind' },
        member: null,
        key: { id: apiKey.id, label: '', access: 'full', expiresAt: null },
      });
    }),
});
