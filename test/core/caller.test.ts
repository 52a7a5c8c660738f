import assert from 'node:assert/strict';
import { ACCESS, type Access, type Permission, requirePermission } from '../../core/access/caller.ts';
import { INVITATIONS, type Invitation, type Member, ROLES, type Role } from '../../core/access/member.ts';
import { suite } from '../support/suite.ts';

type Outcome = 'permitted' | 'forbidden' | 'invitation_expired';

const members: readonly (readonly [Role, Invitation] | undefined)[] = [
  undefined,
  ...ROLES.flatMap((role) => INVITATIONS.map((invitation) => [role, invitation] as const)),
];

/** The outcomes of a read and of a write, first with a full-access key of each member, then with a read-only key. */
const expected: Readonly<Record<string, readonly Outcome[]>> = {
  'no member': ['permitted', 'permitted', 'permitted', 'forbidden'],
  'admin, accepted': ['permitted', 'permitted', 'permitted', 'forbidden'],
  'admin, pending': ['forbidden', 'forbidden', 'forbidden', 'forbidden'],
  'admin, expired': ['invitation_expired', 'invitation_expired', 'invitation_expired', 'invitation_expired'],
  'member, accepted': ['permitted', 'forbidden', 'permitted', 'forbidden'],
  'member, pending': ['forbidden', 'forbidden', 'forbidden', 'forbidden'],
  'member, expired': ['invitation_expired', 'invitation_expired', 'invitation_expired', 'invitation_expired'],
};

function getOutcome(access: Access, state: readonly [Role, Invitation] | undefined, permission: Permission): Outcome {
  const member = state && ({ role: state[0], invitation: state[1] } as Member);
  try {
    requirePermission({ workspaceId: 'own', keyId: 'key', access, member }, permission);
    return 'permitted';
  } catch (error) {
    return (error as { kind: Outcome }).kind;
  }
}

suite('a caller', {
  'has the permissions that its access, role and invitation all allow': () => {
    const outcomes = members.map((member) => [
      member?.join(', ') ?? 'no member',
      ACCESS.flatMap((access) =>
        (['read', 'write'] as const).map((permission) => getOutcome(access, member, permission)),
      ),
    ]);
    assert.deepEqual(Object.fromEntries(outcomes), expected);
  },
});
