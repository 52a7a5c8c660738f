import { DEFAULT_INVITATION_DAYS, MAX_INVITATION_DAYS } from '../limits.ts';
import { applyChanges, type Changes, selectMissingDefaults } from '../shared/changes.ts';
import { CoreError, type FieldError } from '../shared/core-error.ts';
import { DAY_MS, formatTimestamp, type ParsedDate } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { SeatType } from '../shared/seat-type.ts';

export const ROLES = ['admin', 'member'] as const;
export const INVITATION_STATUSES = ['pending', 'accepted', 'expired'] as const;

export type Role = (typeof ROLES)[number];
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/** A person who belongs to a workspace. */
export interface Member extends Entity {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly seatType: SeatType;
  readonly groupIds: readonly string[];
  /** When the invitation expires or has expired, a timestamp (`formatTimestamp`), or `null` if it is accepted. */
  readonly invitationExpiresAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A member with the status of the invitation at a certain time. */
export type InvitedMember = Member & { readonly invitation: InvitationStatus };

/** Whether an invitation is pending or expired is not stored: it follows from the time. So no job is needed. */
export function withInvitation(member: Member, now: number): InvitedMember {
  return { ...member, invitation: getInvitation(member.invitationExpiresAt, now) };
}

function getInvitation(expiresAt: string | null, now: number): InvitationStatus {
  if (expiresAt === null) return 'accepted';
  return Date.parse(expiresAt) > now ? 'pending' : 'expired';
}

export function isAcceptedAdmin({ role, invitationExpiresAt }: Member): boolean {
  return role === 'admin' && invitationExpiresAt === null;
}

export const EMAIL_TAKEN = [
  'This workspace already has a member with this email address. Use another address.',
  'email_taken',
] as const;
export const INVITATION_EXPIRED = [
  'invitation_expired',
  "The invitation of this key's member has expired. Ask an admin of the workspace to renew it.",
] as const;
export const LAST_ADMIN = [
  'This is the last admin of the workspace who has accepted the invitation. Appoint another admin first.',
  'last_admin',
] as const;

/**
 * Returns the problem of an email address, or `undefined`. Checks only that the address has no white space, and one `@`
 * with a text on each side. Only a sent email proves that an address works.
 */
export function findEmailProblem(email: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(email) ? undefined : 'must be an email address such as ada@example.com';
}

/** The fields of a request that change an invitation. */
interface InvitationChange {
  readonly invitation?: InvitationStatus | undefined;
  readonly invitationExpiresAt?: ParsedDate | undefined;
}

/** The fields of a member that can be changed. `groups` are the IDs of groups. */
export type MemberChange = Changes<Pick<Member, 'name' | 'email' | 'role' | 'seatType'>> &
  InvitationChange & { readonly groups?: readonly string[] | undefined };
export type NewMemberFields = MemberChange & Pick<Member, 'name' | 'email'>;

/** The optional fields of a member to create, with their defaults. */
const MEMBER_DEFAULTS = { role: 'member', seatType: 'advocate' } as const satisfies Partial<Member>;

export function newMember(workspaceId: string, id: string, fields: NewMemberFields, now: number): Member {
  const { groups = [], invitation = 'pending', invitationExpiresAt: expiry, ...others } = fields;
  const createdAt = formatTimestamp(now);
  return {
    id,
    workspaceId,
    ...others,
    ...selectMissingDefaults(MEMBER_DEFAULTS, others),
    groupIds: groups,
    // A new invitation is like the renewal of one that has expired.
    invitationExpiresAt: changeInvitation(createdAt, { invitation, invitationExpiresAt: expiry }, now),
    createdAt,
    updatedAt: createdAt,
  };
}

/** Returns the member with an accepted invitation. Throws `invitation_expired` if the invitation has expired. */
export function acceptInvitation(member: Member, now: number): Member {
  if (getInvitation(member.invitationExpiresAt, now) === 'expired') throw new CoreError(...INVITATION_EXPIRED);
  return changeMember(member, { invitation: 'accepted' }, now);
}

/** Returns the member with the given fields changed. Throws `conflict` as `changeInvitation` does. */
export function changeMember(member: Member, change: MemberChange, now: number): Member {
  const { groups: groupIds, invitation: _, invitationExpiresAt: __, ...others } = change;
  const invitationExpiresAt = changeInvitation(member.invitationExpiresAt, change, now);
  return applyChanges(member, { ...others, groupIds, invitationExpiresAt }, now);
}

/**
 * Checks the expiry in a change. `expiresAt` is that of the current invitation, or `undefined` for a new member.
 */
export function findExpiryErrors(
  expiresAt: string | null | undefined,
  { invitation, invitationExpiresAt: expiry }: InvitationChange,
  now: number,
): readonly FieldError[] {
  if (!expiry) return [];
  const status = invitation ?? (expiresAt === undefined ? 'pending' : getInvitation(expiresAt, now));
  const problem =
    status !== 'pending'
      ? 'allowed only if the invitation is pending'
      : expiry.time <= now
        ? 'must be in the future'
        : expiry.time - now > MAX_INVITATION_DAYS * DAY_MS
          ? `must be at most ${MAX_INVITATION_DAYS} days in the future`
          : undefined;
  return problem === undefined ? [] : [{ path: 'invitationExpiresAt', problem }];
}

/**
 * Returns when an invitation expires after a change: `pending` renews it, `expired` ends it now, and `accepted` accepts
 * it. Throws `conflict` if an accepted invitation would get another status.
 */
function changeInvitation(
  expiresAt: string | null,
  { invitation, invitationExpiresAt: expiry }: InvitationChange,
  now: number,
): string | null {
  const current = getInvitation(expiresAt, now);
  if (current === 'accepted' && (invitation ?? current) !== current) {
    const message = 'The member has accepted the invitation, so its status cannot change. Delete the member instead.';
    throw new CoreError('conflict', message, 'invitation_accepted');
  }
  if (expiry || invitation === 'pending') {
    return formatTimestamp(expiry?.time ?? now + DEFAULT_INVITATION_DAYS * DAY_MS);
  }
  if (invitation === undefined || invitation === current) return expiresAt;
  return invitation === 'accepted' ? null : formatTimestamp(now);
}
