import assert from 'node:assert/strict';
import { findEmailProblem, type Member } from '../../core/access/member.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, testCore } from '../support/core.ts';
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

  'rejects groups that the workspace does not have': async () => {
    const { app, storage } = testCore();
    const member = await app.members.create(OWN, ADA);
    const foreign = await app.groups.create(OTHER, { name: 'Sales' });
    await assert.rejects(app.members.update(OWN, member.id, { name: 'Eve', groupIds: [foreign.id] }), {
      kind: 'invalid',
      message: 'groupIds.0: must be the ID of a group of this workspace',
    });
    assert.deepEqual(await storage.members.findById(OWN, member.id), member);
  },
});

suite('the email of a member', {
  'must have text before and after exactly one @': () => {
    for (const email of ['a@b', 'ada.winter+x@example.com', 'ü@bücher.example'])
      assert.equal(findEmailProblem(email), undefined);
    for (const email of ['', 'ada', '@example.com', 'ada@', 'a@b@c', 'ada winter@example.com', 'ada@exam\tple.com']) {
      assert.match(findEmailProblem(email) ?? '', /must be an email address/, email);
    }
  },
});
