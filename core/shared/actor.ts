import type { SeatType } from './seat-type.ts';

/** The fields of a member that use cases need to act for that member. */
export interface ActingMember {
  readonly id: string;
  readonly name: string;
  readonly seatType: SeatType;
  readonly groupIds: readonly string[];
}

/** The workspace that a use case acts in, and the member that it acts for, if any. */
export interface Actor {
  readonly workspaceId: string;
  readonly member?: ActingMember | undefined;
}

/** An actor that acts for a member. */
export interface MemberActor extends Actor {
  readonly member: ActingMember;
}
