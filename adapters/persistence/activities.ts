import { setImmediate as nextIteration } from 'node:timers/promises';
import { type Activity, addActivityCounts } from '../../core/activity/activity.ts';
import type { ActivityField, ActivityRepository, ActivitySums } from '../../core/activity/activity-repository.ts';
import { toUnits } from '../../core/shared/amount.ts';
import { indexById } from '../../core/shared/entity.ts';
import { type Condition, createSlowListError, type RecordStore } from './record-store.ts';
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

/** The number of days that one query adds up. */
const DAYS_PER_QUERY = 7;
/** The number of sums that are processed without a pause. */
const SUMS_PER_PAUSE = 1_000;
const SUMMED_COLUMNS = ['shares', 'clicks', 'rewardsHigh', 'rewardsLow'] as const;

export function createActivityRepository(store: RecordStore<ActivityRecord>): ActivityRepository {
  const { add, addMany, updateMany } = createRepository(store, activitySchema);
  return {
    add,
    async addCounts(workspaceId, activities) {
      const byId = indexById(activities);
      const change = (it: Activity) => addActivityCounts(it, byId.get(it.id) as Activity);
      const counted = indexById(await updateMany(workspaceId, [...byId.keys()], change));
      await addMany(activities.filter(({ id }) => !counted.has(id)));
    },
    async *sum(workspaceId, { days, campaignIds, memberIds }, groupBy, isAbandoned) {
      const filters: Condition<ActivityRecord>[] = [];
      if (campaignIds) filters.push({ field: 'campaignId', in: campaignIds });
      if (memberIds) filters.push({ field: 'memberId', in: memberIds });
      for (let i = 0; i < days.length; i += DAYS_PER_QUERY) {
        if (isAbandoned?.()) throw createSlowListError();
        const where = [{ field: 'day', in: days.slice(i, i + DAYS_PER_QUERY) } as const, ...filters];
        const sums = await store.sum(workspaceId, { where, groupBy, columns: SUMMED_COLUMNS });
        for (let first = 0; first < sums.length; first += SUMS_PER_PAUSE) {
          await nextIteration();
          yield sums.slice(first, first + SUMS_PER_PAUSE).map(toSums);
        }
      }
    },
  };
}

type SummedRecord = Pick<ActivityRecord, (typeof SUMMED_COLUMNS)[number]> & Partial<Pick<Activity, ActivityField>>;

function toSums({ rewardsHigh, rewardsLow, ...sums }: SummedRecord): ActivitySums {
  const rewards = BigInt(rewardsHigh) * HIGH_UNITS + BigInt(rewardsLow);
  return { day: '', campaignId: '', memberId: '', ...sums, rewards };
}
