import assert from 'node:assert/strict';
import { ACCESS, type Access, type Permission, requirePermission } from '../../core/access/permissions.ts';
import {
  INVITATION_STATUSES,
  type InvitationStatus,
  type InvitedMember,
  ROLES,
  type Role,
} from '../../core/member/member.ts';
import { suite } from '../support/suite.ts';

type Outcome = 'permitted' | 'forbidden' | 'invitation_expired';

const PERMISSIONS: readonly Permission[] = ['read', 'inspect', 'write', 'author', 'share', 'accept'];

const members: readonly (readonly [Role, InvitationStatus] | undefined)[] = [
  undefined,
  ...ROLES.flatMap((role) => INVITATION_STATUSES.map((invitation) => [role, invitation] as const)),
];

/**
 * The permissions of a full-access key, and then of a read-only key, by the member of the key. Unlisted members have no
 * permissions.
 */
const expected: Readonly<Record<string, readonly (readonly Permission[])[]>> = {
  'no member': [
    ['read', 'inspect', 'write'],
    ['read', 'inspect'],
  ],
  'admin, accepted': [PERMISSIONS, ['read', 'inspect', 'accept']],
  'member, accepted': [
    ['read', 'share', 'accept'],
    ['read', 'accept'],
  ],
  'admin, pending': [['accept'], ['accept']],
  'member, pending': [['accept'], ['accept']],
};

function getOutcome(
  access: Access,
  state: readonly [Role, InvitationStatus] | undefined,
  permission: Permission,
): Outcome {
  const member = state && ({ role: state[0], invitation: state[1] } as InvitedMember);
  try {
    requirePermission({ workspaceId: 'own', keyId: 'key', access, member }, permission);
    return 'permitted';
  } catch (error) {
    return (error as { kind: Outcome }).kind;
  }
}

suite('a caller', {
  'has the permissions that its access, role and invitation all allow': () => {
    for (const state of members) {
      const name = state?.join(', ') ?? 'no member';
      for (const [i, access] of ACCESS.entries()) {
        for (const permission of PERMISSIONS) {
          const isPermitted = expected[name]?.[i]?.includes(permission) ?? false;
          const rejection = state?.[1] === 'expired' ? 'invitation_expired' : 'forbidden';
          const outcome = getOutcome(access, state, permission);
          assert.equal(
            outcome,
            isPermitted ? 'permitted' : rejection,
            `${permission} by ${name} with ${access} access`,
          );
        }
      }
    }
  },
});
