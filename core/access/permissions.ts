import { INVITATION_EXPIRED, type InvitationStatus, type InvitedMember, type Role } from '../member/member.ts';
import type { Actor } from '../shared/actor.ts';
import { CoreError, type CoreErrorCause, type CoreErrorKind } from '../shared/core-error.ts';

export const ACCESS = ['full', 'read'] as const;
export type Access = (typeof ACCESS)[number];

/**
 * The permissions that only the API key of a member can have. `author`: create a record with an author. `share`: share
 * a campaign. `accept`: accept the invitation. `readOwn`: read records of the member.
 */
export type MemberPermission = 'author' | 'share' | 'accept' | 'readOwn';

/** The permission that an operation requires. `inspect` is a read of data that employees do not see. */
export type Permission = 'read' | 'inspect' | 'write' | MemberPermission;

/** An actor with an access level: that of its API key, or full access for the operator on the command line. */
export interface Caller extends Actor {
  /** The ID of the API key, if there is one. */
  readonly keyId?: string | undefined;
  readonly access: Access;
  readonly member?: InvitedMember | undefined;
}

/** A caller that authenticated with an API key. */
export interface AuthenticatedCaller extends Caller {
  readonly keyId: string;
}

type Rejection = readonly [kind: CoreErrorKind, message: string, causeName?: CoreErrorCause];

const rejectionByInvitation: Record<InvitationStatus, Rejection | undefined> = {
  accepted: undefined,
  pending: ['forbidden', "The invitation of this key's member is pending. Accept it first.", 'invitation_pending'],
  expired: INVITATION_EXPIRED,
};

interface PermissionRequirement<P extends Permission> {
  readonly access: readonly Access[];
  readonly roles: readonly Role[];
  readonly needsMember: P extends MemberPermission ? true : false;
  /** Whether a member has the permission before accepting the invitation. */
  readonly includesPending?: boolean;
}

/**
 * The access levels and the roles that have each permission. A key without a member has no role, so its role is not
 * checked.
 */
export const permissionRequirements: { readonly [P in Permission]: PermissionRequirement<P> } = {
  read: { access: ['full', 'read'], roles: ['admin', 'member'], needsMember: false },
  inspect: { access: ['full', 'read'], roles: ['admin'], needsMember: false },
  write: { access: ['full'], roles: ['admin'], needsMember: false },
  author: { access: ['full'], roles: ['admin'], needsMember: true },
  share: { access: ['full'], roles: ['admin', 'member'], needsMember: true },
  accept: { access: ['full', 'read'], roles: ['admin', 'member'], needsMember: true, includesPending: true },
  readOwn: { access: ['full', 'read'], roles: ['admin', 'member'], needsMember: true },
};

/** Returns whether only a member can have a permission. */
export function needsMember(permission: Permission): boolean {
  return permissionRequirements[permission].needsMember;
}

/**
 * Throws `forbidden` if the permission requires an accepted invitation, another access level, another role, or a
 * member. Throws `invitation_expired` if the invitation expired.
 */
export function requirePermission(caller: Caller, permission: Permission): void {
  const rejection = findRejection(caller, permission);
  if (rejection) throw new CoreError(...rejection);
}

/** Returns the error that `requirePermission` would throw. */
export function findRejection({ access, member }: Caller, permission: Permission): Rejection | undefined {
  const required: PermissionRequirement<Permission> = permissionRequirements[permission];
  const isAllowedPending = required.includesPending && member?.invitation === 'pending';
  const rejection = member && !isAllowedPending && rejectionByInvitation[member.invitation];
  if (rejection) return rejection;
  if (!required.access.includes(access)) {
    return ['forbidden', `This API key has ${access} access. Use a key with full access.`, 'read_only_key'];
  }
  if (required.needsMember && !member) {
    const message = 'This API key does not belong to a member. Use the API key of a member.';
    return ['forbidden', message, 'key_without_member'];
  }
  if (member && !required.roles.includes(member.role)) {
    const forbidden =
      permission === 'inspect' ? 'reads of members, API keys, events and webhooks' : 'writes except sharing a campaign';
    const message = `The role ${member.role} does not allow ${forbidden}. Use the API key of an admin.`;
    return ['forbidden', message, 'not_admin'];
  }
  return undefined;
}
