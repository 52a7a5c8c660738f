import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';

export const ROLES = ['admin', 'member'] as const;
export const SEAT_TYPES = ['thought_leader', 'advocate'] as const;
export const INVITATIONS = ['accepted', 'pending', 'expired'] as const;

export type Role = (typeof ROLES)[number];
export type SeatType = (typeof SEAT_TYPES)[number];
export type Invitation = (typeof INVITATIONS)[number];

/** A person of a workspace. */
export interface Member extends Entity {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly seatType: SeatType;
  readonly groupIds: readonly string[];
  readonly invitation: Invitation;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const MEMBER_NAME = { min: 1, max: 190 };
export const EMAIL = { min: 3, max: 254 };

/** Asks for no more than a text on both sides of one `@`: whether mail arrives there only mail can tell. */
export function emailProblem(email: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(email) ? undefined : 'must be an email address such as ada@example.com';
}

export type MemberRepository = RecordStore<Member>;

export const memberSchema: RecordSchema<Member> = {
  name: 'members',
  unique: {},
  indexes: [['groupIds', 'createdAt']],
};
