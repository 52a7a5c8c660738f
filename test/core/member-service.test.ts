import assert from 'node:assert/strict';
import { requirePermission } from '../../core/access/caller.ts';
import { findEmailProblem, INVITATIONS, type Member } from '../../core/access/member.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };

suite('a new member', {
  'has an accepted invitation, the role member, the seat type advocate and no groups by default': async () => {
    const { app, storage } = testCore();
    const { id, ...created } = await app.members.create(OWN, ADA);
    assert.deepEqual(created, {
      ...ADA,
      workspaceId: OWN,
      role: 'member',
      seatType: 'advocate',
      groupIds: [],
      invitation: 'accepted',
      createdAt: formatTimestamp(NOON),
      updatedAt: formatTimestamp(NOON),
    });
    assert.deepEqual(await storage.members.findById(OWN, id), { id, ...created });
  },

  'has the fields that were given, and is counted in its groups': async () => {
    const { app, engine } = testCore();
    const group = await app.groups.create(OWN, { name: 'Sales' });
    assert.equal(group.count, 0);
    const fields = { role: 'admin', seatType: 'thought_leader', groupIds: [group.id], invitation: 'pending' } as const;
    const { role, seatType, groupIds, invitation } = await app.members.create(OWN, { ...ADA, ...fields });
    assert.deepEqual({ role, seatType, groupIds, invitation }, fields);
    assert.equal(await engine.members.count(OWN, [{ field: 'groupIds', in: [group.id] }]), 1);
  },

  'is rejected with groups that its workspace does not have': async () => {
    const { app, engine } = testCore();
    const own = await app.groups.create(OWN, { name: 'Sales' });
    const foreign = await app.groups.create(OTHER, { name: 'Sales' });
    await assert.rejects(app.members.create(OWN, { ...ADA, groupIds: [foreign.id, own.id, UNKNOWN_ID] }), {
      kind: 'invalid',
      message:
        'groupIds.0: must be the id of a group of this workspace; groupIds.2: must be the id of a group of this workspace',
    });
    assert.equal(await engine.members.count(OWN, []), 0);
  },
});

suite('a change of a member', {
  'sets the given fields and updatedAt': async () => {
    const { app, storage, clock } = testCore();
    const member = await app.members.create(OWN, ADA);
    const { id: groupId } = await app.groups.create(OWN, { name: 'Sales' });
    clock.now += SECOND;
    const changes = [
      { name: 'Ada Winter' },
      { email: 'ada.winter@example.com' },
      { role: 'admin' },
      { seatType: 'thought_leader' },
      { groupIds: [groupId] },
      { groupIds: [] },
      { invitation: 'expired' },
    ] as const;
    let expected: Member = { ...member, updatedAt: formatTimestamp(NOON + SECOND) };
    for (const change of changes) {
      expected = { ...expected, ...change };
      assert.deepEqual(await app.members.update(OWN, member.id, change), expected);
      assert.deepEqual(await storage.members.findById(OWN, member.id), expected);
    }
    clock.now += SECOND;
    for (const same of [{}, { name: 'Ada Winter', groupIds: [] }]) {
      assert.deepEqual(await app.members.update(OWN, member.id, same), expected);
    }
  },

  'rejects a member or groups that the workspace does not have': async () => {
    const { app, storage } = testCore();
    const member = await app.members.create(OWN, ADA);
    const foreign = await app.groups.create(OTHER, { name: 'Sales' });
    for (const [workspaceId, id] of [
      [OTHER, member.id],
      [OWN, UNKNOWN_ID],
    ] as const) {
      for (const change of [{ name: 'Eve' }, { groupIds: [UNKNOWN_ID] }]) {
        await assert.rejects(app.members.update(workspaceId, id, change), { kind: 'not_found' });
      }
    }
    await assert.rejects(app.members.update(OWN, member.id, { name: 'Eve', groupIds: [foreign.id] }), {
      kind: 'invalid',
      message: 'groupIds.0: must be the id of a group of this workspace',
    });
    assert.deepEqual(await storage.members.findById(OWN, member.id), member);
  },
});

suite('the email of a member', {
  'must have a text on both sides of one @': () => {
    for (const email of ['a@b', 'ada.winter+x@example.com', 'ü@bücher.example'])
      assert.equal(findEmailProblem(email), undefined);
    for (const email of ['', 'ada', '@example.com', 'ada@', 'a@b@c', 'ada winter@example.com', 'ada@exam\tple.com']) {
      assert.match(findEmailProblem(email) ?? '', /must be an email address/, email);
    }
  },
});

suite('the invitation of a member', {
  'determines the permissions of the keys of the member from the next request on': async () => {
    const { app } = testCore();
    const { id: memberId } = await app.members.create(OWN, { ...ADA, invitation: 'pending' });
    const { secret } = await app.apiKeys.create(OWN, { memberId });
    const kinds = { accepted: undefined, pending: 'forbidden', expired: 'invitation_expired' };
    for (const invitation of INVITATIONS) {
      await app.members.update(OWN, memberId, { invitation });
      const caller = await app.apiKeys.authenticate(secret);
      const kind = kinds[invitation];
      if (kind) assert.throws(() => requirePermission(caller, 'read'), { kind }, invitation);
      else requirePermission(caller, 'read');
    }
  },
});
