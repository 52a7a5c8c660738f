import { CoreError, type CoreErrorKind } from '../shared/core-error.ts';
import type { Invitation, Member, Role } from './member.ts';

/** The access levels of an API key. */
export const ACCESS = ['full', 'read'] as const;
export type Access = (typeof ACCESS)[number];

/** The permission that an operation requires. */
export type Permission = 'read' | 'write';

/** The workspace that a use case acts in, and the member that it acts for, if any. */
export interface Actor {
  readonly workspaceId: string;
  readonly member?: Member | undefined;
}

/** An actor that authenticated with an API key. */
export interface Caller extends Actor {
  readonly keyId: string;
  readonly access: Access;
}

interface AccessRejection {
  readonly kind: CoreErrorKind;
  readonly message: string;
}

const rejectionByInvitation: Record<Invitation, AccessRejection | undefined> = {
  accepted: undefined,
  pending: {
    kind: 'forbidden',
    message: "The invitation of this key's member is pending. Accept the invitation first.",
  },
  expired: {
    kind: 'invitation_expired',
    message: "The invitation of this key's member expired before it was accepted. Ask an admin for a new invitation.",
  },
};

const permissionsByAccess: Record<Access, readonly Permission[]> = { full: ['read', 'write'], read: ['read'] };
const permissionsByRole: Record<Role, readonly Permission[]> = { admin: ['read', 'write'], member: ['read'] };

/**
 * Throws `forbidden` if the invitation of the member is pending, or if the key or the role does not have the permission.
 * Throws `invitation_expired` if the invitation expired.
 */
export function requirePermission({ access, member }: Caller, permission: Permission): void {
  const rejection = member && rejectionByInvitation[member.invitation];
  if (rejection) throw new CoreError(rejection.kind, rejection.message);
  if (!permissionsByAccess[access].includes(permission)) {
    throw new CoreError('forbidden', `This API key has ${access} access. Use a key with full access.`);
  }
  if (member && !permissionsByRole[member.role].includes(permission)) {
    throw new CoreError('forbidden', `The role ${member.role} does not allow writes. Use the API key of an admin.`);
  }
}
