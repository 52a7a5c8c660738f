import { CoreError, type CoreErrorKind } from '../shared/core-error.ts';
import type { Invitation, Member, Role } from './member.ts';

/** What a key lets its holder do at most. */
export const ACCESS = ['full', 'read'] as const;
export type Access = (typeof ACCESS)[number];

/** What an operation does to the workspace. */
export type Permission = 'read' | 'write';

/** In whose name a use case acts: in a workspace, and as one of its members or as nobody. */
export interface Actor {
  readonly workspaceId: string;
  readonly member?: Member | undefined;
}

/** An actor that presented an API key. */
export interface Caller extends Actor {
  readonly keyId: string;
  readonly access: Access;
}

interface AccessRejection {
  readonly kind: CoreErrorKind;
  readonly message: string;
}

const rejectionOfInvitation: Record<Invitation, AccessRejection | undefined> = {
  accepted: undefined,
  pending: {
    kind: 'forbidden',
    message: 'The invitation of the member who holds this key is still pending: accept it first.',
  },
  expired: {
    kind: 'invitation_expired',
    message: 'The invitation of the member who holds this key expired before it was accepted: ask for a new one.',
  },
};

const permissionsOfAccess: Record<Access, readonly Permission[]> = { full: ['read', 'write'], read: ['read'] };
const permissionsOfRole: Record<Role, readonly Permission[]> = { admin: ['read', 'write'], member: ['read'] };

/** Refuses a caller whose invitation is not accepted, or whose key or role does not reach as far as the permission. */
export function requirePermission({ access, member }: Caller, permission: Permission): void {
  const refusal = member && rejectionOfInvitation[member.invitation];
  if (refusal) throw new CoreError(refusal.kind, refusal.message);
  if (!permissionsOfAccess[access].includes(permission)) {
    throw new CoreError('forbidden', `This key has ${access} access: use one with full access.`);
  }
  if (member && !permissionsOfRole[member.role].includes(permission)) {
    throw new CoreError('forbidden', `The role ${member.role} may not write: use the key of an admin.`);
  }
}
