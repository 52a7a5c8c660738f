import { type Activity, addActivityCounts } from '../../core/activity/activity.ts';
import type { ActivityRepository } from '../../core/activity/activity-repository.ts';
import { toUnits } from '../../core/shared/amount.ts';
import { indexById } from '../../core/shared/entity.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

/** The factor of `rewardsHigh`. Sums of both columns are exact, because they are below 2^53. */
const HIGH_UNITS = 10n ** 8n;

/** The units of `rewards` (core/shared/amount.ts), as `rewardsHigh` * 10^8 + `rewardsLow`. */
interface ActivityColumns {
  readonly rewardsHigh: number;
  readonly rewardsLow: number;
}

export type ActivityRecord = Activity & ActivityColumns;

export const activitySchema = defineSchema<Activity, ActivityColumns>({
  derived: {
    rewardsHigh: ({ rewards }) => Number(toUnits(rewards) / HIGH_UNITS),
    rewardsLow: ({ rewards }) => Number(toUnits(rewards) % HIGH_UNITS),
  },
  columns: {
    day: 'text',
    campaignId: 'text',
    memberId: 'text',
    shares: 'number',
    clicks: 'number',
    rewardsHigh: 'number',
    rewardsLow: 'number',
  },
  indexes: [
    ['day', 'campaignId'],
    ['campaignId', 'day'],
    ['memberId', 'day'],
  ],
});

export function createActivityRepository(store: RecordStore<ActivityRecord>): ActivityRepository {
  const { add, updateMany } = createRepository(store, activitySchema);
  return {
    async addCounts(workspaceId, activities) {
      const byId = indexById(activities);
      const change = (it: Activity) => addActivityCounts(it, byId.get(it.id) as Activity);
      const counted = indexById(await updateMany(workspaceId, [...byId.keys()], change));
      for (const activity of activities) if (!counted.has(activity.id)) await add(activity);
    },
  };
}
