import assert from 'node:assert/strict';
import {
  acceptInvitation,
  changeMember,
  findEmailProblem,
  findExpiryErrors,
  type InvitationStatus,
  type Member,
  type MemberChange,
  newMember,
  withInvitation,
} from '../../core/member/member.ts';
import { formatTimestamp, type ParsedDate, parseEndDate } from '../../core/shared/date.ts';
import { DAY, NOON } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const ADA = { name: 'Ada', email: 'Ada@example.com' };
const dateAt = (time: number): ParsedDate => ({ text: 'as it was sent', time });

/** A member whose invitation has a status at noon, and ended or ends an hour before or after noon. */
function memberWith(status: InvitationStatus): Member {
  const time = { pending: NOON + DAY / 24, expired: NOON - DAY / 24 };
  const member = newMember('own', 'id', ADA, NOON - 30 * DAY);
  return { ...member, invitationExpiresAt: status === 'accepted' ? null : formatTimestamp(time[status]) };
}

/** The result of a change: the time at which the invitation expires, as a distance from noon, or an error. */
type Outcome = number | 'accepted' | 'unchanged' | 'conflict' | 'invalid';
const IN_A_WEEK = dateAt(NOON + 7 * DAY);

/** For each change: the outcomes if the invitation is pending, expired and accepted. */
const transitions: readonly (readonly [MemberChange, ...Outcome[]])[] = [
  [{}, 'unchanged', 'unchanged', 'unchanged'],
  [{ invitation: 'pending' }, 14 * DAY, 14 * DAY, 'conflict'],
  [{ invitation: 'pending', invitationExpiresAt: IN_A_WEEK }, 7 * DAY, 7 * DAY, 'conflict'],
  [{ invitationExpiresAt: IN_A_WEEK }, 7 * DAY, 'invalid', 'invalid'],
  [{ invitation: 'expired' }, 0, 'unchanged', 'conflict'],
  [{ invitation: 'expired', invitationExpiresAt: IN_A_WEEK }, 'invalid', 'invalid', 'invalid'],
  [{ invitation: 'accepted' }, 'accepted', 'accepted', 'unchanged'],
  [{ invitation: 'accepted', invitationExpiresAt: IN_A_WEEK }, 'invalid', 'invalid', 'invalid'],
];

function getOutcome(member: Member, change: MemberChange): Outcome {
  if (findExpiryErrors(member.invitationExpiresAt, change, NOON).length > 0) return 'invalid';
  try {
    const changed = changeMember(member, change, NOON);
    if (changed === member) return 'unchanged';
    const { invitationExpiresAt, updatedAt } = changed;
    assert.equal(updatedAt, formatTimestamp(NOON));
    return invitationExpiresAt === null ? 'accepted' : Date.parse(invitationExpiresAt) - NOON;
  } catch (error) {
    return (error as { kind: Outcome }).kind;
  }
}

suite('the email of a member', {
  'must have text before and after exactly one @, and no white space': () => {
    for (const email of ['a@b', 'ada.winter+x@example.com', 'ü@bücher.example'])
      assert.equal(findEmailProblem(email), undefined);
    for (const email of [
      ...['', 'ada', '@example.com', 'ada@', 'a@b@c', 'a@@b', '@', 'ada winter@example.com', 'ada@exam\tple.com'],
      ...['ada@example.com\n', 'a\u00a0b@c', 'a@b\u3000c', 'a\u2028@b'],
    ]) {
      assert.match(findEmailProblem(email) ?? '', /must be an email address/, email);
    }
  },
});

suite('an invitation', {
  'is pending for 14 days by default, for another time, or accepted': () => {
    const create = (fields: MemberChange) => newMember('own', 'id', { ...ADA, ...fields }, NOON);
    assert.equal(create({}).invitationExpiresAt, formatTimestamp(NOON + 14 * DAY));
    assert.equal(create({ invitationExpiresAt: IN_A_WEEK }).invitationExpiresAt, formatTimestamp(NOON + 7 * DAY));
    assert.equal(create({ invitation: 'accepted' }).invitationExpiresAt, null);
    const { role, seatType, groupIds, createdAt, updatedAt } = create({});
    assert.deepEqual([role, seatType, groupIds], ['member', 'advocate', []]);
    assert.deepEqual([createdAt, updatedAt], [formatTimestamp(NOON), formatTimestamp(NOON)]);
  },

  'is pending until it expires, and expired at that time': () => {
    const member = newMember('own', 'id', ADA, NOON);
    for (const [now, status] of [
      [NOON, 'pending'],
      [NOON + 14 * DAY - 1, 'pending'],
      [NOON + 14 * DAY, 'expired'],
    ] as const) {
      assert.equal(withInvitation(member, now).invitation, status);
    }
  },

  'is renewed, ended, accepted, left as it is, or not changed at all': () =>
    each(
      transitions.map(([change, ...outcomes]) => [JSON.stringify(change), { change, outcomes }] as const),
      ({ change, outcomes }) => {
        const statuses = ['pending', 'expired', 'accepted'] as const;
        assert.deepEqual(
          statuses.map((status) => getOutcome(memberWith(status), change)),
          outcomes,
        );
      },
    ),

  'can expire at any time in the next 365 days': () => {
    const problems = {
      'must be in the future': [dateAt(NOON), dateAt(NOON - 1), parseEndDate('2026-01-30') as ParsedDate],
      'must be at most 365 days in the future': [dateAt(NOON + 365 * DAY + 1), dateAt(NOON + 1000 * DAY)],
    };
    for (const [problem, dates] of Object.entries(problems)) {
      for (const invitationExpiresAt of dates)
        assert.deepEqual(findExpiryErrors(undefined, { invitationExpiresAt }, NOON), [
          { path: 'invitationExpiresAt', problem },
        ]);
    }
    for (const date of [dateAt(NOON + 1), dateAt(NOON + 365 * DAY), parseEndDate('2026-01-31') as ParsedDate])
      assert.deepEqual(findExpiryErrors(undefined, { invitationExpiresAt: date }, NOON), []);
  },

  'is accepted by the member before it expires, and again without a change': () => {
    assert.equal(acceptInvitation(memberWith('pending'), NOON).invitationExpiresAt, null);
    const accepted = memberWith('accepted');
    assert.equal(acceptInvitation(accepted, NOON), accepted);
    assert.throws(() => acceptInvitation(memberWith('expired'), NOON), { kind: 'invitation_expired' });
  },
});
