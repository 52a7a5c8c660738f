export const SEAT_TYPES = ['thought_leader', 'advocate'] as const;
/** The kind of seat that a member has. */
export type SeatType = (typeof SEAT_TYPES)[number];
