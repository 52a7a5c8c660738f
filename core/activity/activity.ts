import { addUnits, toUnits } from '../shared/amount.ts';
import { formatDay } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** The counts of a share on a day. */
export interface ActivityCounts {
  /** 1 on the day of the share, else 0. */
  readonly shares: number;
  /** The number of clicks on the link of the share. */
  readonly clicks: number;
  /** The amount that the share earned, as a decimal string. */
  readonly rewards: string;
}

/** The activity on a share during a day. Its ID combines the day and the ID of the share. */
export interface Activity extends Entity, ActivityCounts {
  /** The day in UTC on the clock of the storage: `YYYY-MM-DD`. */
  readonly day: string;
  readonly campaignId: string;
  readonly memberId: string;
}

/** Returns the activity on a share during the day of the time `now`, on the clock of the storage. */
export function newActivity(
  share: Pick<Activity, 'id' | 'workspaceId' | 'campaignId' | 'memberId'>,
  { shares, clicks, rewards }: ActivityCounts,
  now: number,
): Activity {
  const { workspaceId, campaignId, memberId } = share;
  const day = formatDay(now);
  return { id: `${day}/${share.id}`, workspaceId, day, campaignId, memberId, shares, clicks, rewards };
}

/** Returns the activity with counts added. */
export function addActivityCounts(activity: Activity, { shares, clicks, rewards }: ActivityCounts): Activity {
  return {
    ...activity,
    shares: activity.shares + shares,
    clicks: activity.clicks + clicks,
    rewards: addUnits(activity.rewards, toUnits(rewards)),
  };
}
