import type { Activity } from './activity.ts';

/** Selects activity by day, campaign and member. */
export interface ActivityFilter {
  /** The days, in ascending order. */
  readonly days: readonly string[];
  readonly campaignIds?: readonly string[] | undefined;
  readonly memberIds?: readonly string[] | undefined;
}

export type ActivityField = 'day' | 'campaignId' | 'memberId';

/** Sums of activity. Fields that are not in `groupBy` are empty. `rewards` are units (core/shared/amount.ts). */
export interface ActivitySums extends Readonly<Record<ActivityField, string>> {
  readonly shares: number;
  readonly clicks: number;
  readonly rewards: bigint;
}

/** The activity of all workspaces: one for each share and day with something to count. */
export interface ActivityRepository {
  /** Adds the activity of a new share. Call it in the transaction that adds the share. */
  add(activity: Activity): Promise<void>;
  /**
   * Adds the counts to those of the same share and day. Each ID occurs once, and all are in one workspace. Call it in
   * the transaction that changes the share: otherwise, an error can leave some of them out.
   */
  addCounts(workspaceId: string, activities: readonly Activity[]): Promise<void>;
  /**
   * Yields the sums for the values of the fields `groupBy`. The same values can occur several times. Reads some days at
   * a time, and lets other requests run meanwhile. Rejects if the request `isAbandoned`.
   */
  sum(
    workspaceId: string,
    filter: ActivityFilter,
    groupBy: readonly ActivityField[],
    isAbandoned?: () => boolean,
  ): AsyncIterable<readonly ActivitySums[]>;
}
