import { type Changes, selectMissingDefaults } from '../shared/changes.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { SeatType } from '../shared/seat-type.ts';

export const ROLES = ['admin', 'member'] as const;
export const INVITATION_STATUSES = ['accepted', 'pending', 'expired'] as const;

export type Role = (typeof ROLES)[number];
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/** A person who belongs to a workspace. */
export interface Member extends Entity {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly seatType: SeatType;
  readonly groupIds: readonly string[];
  readonly invitation: InvitationStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * Returns the problem of an email address, or `undefined`. Checks only that the address has no white space, and one `@`
 * with a text on each side. Only a sent email proves that an address works.
 */
export function findEmailProblem(email: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(email) ? undefined : 'must be an email address such as ada@example.com';
}

export type MemberChange = Changes<Omit<Member, keyof Entity | 'createdAt' | 'updatedAt'>>;
export type NewMemberFields = MemberChange & Pick<Member, 'name' | 'email'>;

/** The optional fields of a member to create, with their defaults. */
export const MEMBER_DEFAULTS = {
  role: 'member',
  seatType: 'advocate',
  groupIds: [],
  invitation: 'accepted',
} as const satisfies Partial<Member>;

export function newMember(workspaceId: string, id: string, fields: NewMemberFields, now: number): Member {
  const createdAt = formatTimestamp(now);
  return {
    id,
    workspaceId,
    createdAt,
    updatedAt: createdAt,
    ...fields,
    ...selectMissingDefaults(MEMBER_DEFAULTS, fields),
  };
}
