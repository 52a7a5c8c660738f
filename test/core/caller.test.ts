import assert from 'node:assert/strict';
import { ACCESS, type Access, type Permission, requirePermission } from '../../core/access/caller.ts';
import { INVITATIONS, type Invitation, type Member, ROLES, type Role } from '../../core/access/member.ts';
import { suite } from '../support/suite.ts';

type Outcome = 'permitted' | 'forbidden' | 'invitation_expired';

const holders: readonly (readonly [Role, Invitation] | undefined)[] = [
  undefined,
  ...ROLES.flatMap((role) => INVITATIONS.map((invitation) => [role, invitation] as const)),
];

/** What a holder's key of each access may do: [full, read] × [read, write]. */
const expected: Readonly<Record<string, readonly Outcome[]>> = {
  'no member': ['permitted', 'permitted', 'permitted', 'forbidden'],
  'admin, accepted': ['permitted', 'permitted', 'permitted', 'forbidden'],
  'admin, pending': ['forbidden', 'forbidden', 'forbidden', 'forbidden'],
  'admin, expired': ['invitation_expired', 'invitation_expired', 'invitation_expired', 'invitation_expired'],
  'member, accepted': ['permitted', 'forbidden', 'permitted', 'forbidden'],
  'member, pending': ['forbidden', 'forbidden', 'forbidden', 'forbidden'],
  'member, expired': ['invitation_expired', 'invitation_expired', 'invitation_expired', 'invitation_expired'],
};

function outcome(access: Access, holder: readonly [Role, Invitation] | undefined, permission: Permission): Outcome {
  const member = holder && ({ role: holder[0], invitation: holder[1] } as Member);
  try {
    requirePermission({ workspaceId: 'own', keyId: 'key', access, member }, permission);
    return 'permitted';
  } catch (error) {
    return (error as { kind: Outcome }).kind;
  }
}

suite('a caller', {
  'may do what access, role and invitation allow together': () => {
    const outcomes = holders.map((holder) => [
      holder?.join(', ') ?? 'no member',
      ACCESS.flatMap((access) => (['read', 'write'] as const).map((permission) => outcome(access, holder, permission))),
    ]);
    assert.deepEqual(Object.fromEntries(outcomes), expected);
  },
});
