import type { Activity } from './activity.ts';

/** The activity of all workspaces: one for each share and day with something to count. */
export interface ActivityRepository {
  /**
   * Adds the counts to those of the same share and day. Each ID occurs once, and all are in one workspace. Call it in
   * the transaction that changes the share: otherwise, an error can leave some of them out.
   */
  addCounts(workspaceId: string, activities: readonly Activity[]): Promise<void>;
}
