import assert from 'node:assert/strict';
import { buildMember } from '../contract/samples.ts';
import { OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a member of an earlier version', {
  'has accepted the invitation if the record has no expiry': async () => {
    const { app, engine } = testCore();
    const { invitationExpiresAt: _, ...old } = buildMember(OWN, 'ada@x.example', { accepted: true });
    await engine.members.add(old as typeof old & { invitationExpiresAt: null });
    const { invitation, invitationExpiresAt } = await app.members.get(OWN, old.id);
    assert.deepEqual([invitation, invitationExpiresAt], ['accepted', null]);
    const query = { page: 1, pageSize: 9, sortBy: 'name', sortOrder: 'asc', invitation: 'accepted' } as const;
    assert.deepEqual((await app.members.list(OWN, query)).items[0]?.id, old.id);
  },
});
