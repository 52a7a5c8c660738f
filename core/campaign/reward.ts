import { addUnits, toUnits } from '../shared/amount.ts';
import type { Campaign } from './campaign.ts';

/** What can earn a reward: the first share of a member, or clicks on its link. */
export type RewardedEvent = { readonly type: 'share' } | { readonly type: 'clicks'; readonly count: number };

type RewardFields = 'shareRewardAmount' | 'clickRewardAmount' | 'maxRewardPerEmployee' | 'totalBudget' | 'rewardsSpent';

/**
 * Returns what an event on a share earns, in units (amount.ts). The amount of the campaign is cut to what is left of
 * both limits: `maxRewardPerEmployee` without the earlier rewards of the share, and `totalBudget` without all earlier
 * rewards of the campaign. If a limit was lowered below the earlier rewards, nothing is left.
 */
export function earn(
  campaign: Pick<Campaign, RewardFields>,
  share: { readonly rewards: string },
  event: RewardedEvent,
): bigint {
  const amount =
    event.type === 'share'
      ? toUnits(campaign.shareRewardAmount)
      : toUnits(campaign.clickRewardAmount) * BigInt(event.count);
  const leftOfShare = toUnits(campaign.maxRewardPerEmployee) - toUnits(share.rewards);
  const leftOfBudget = toUnits(campaign.totalBudget) - toUnits(campaign.rewardsSpent);
  const earned = [amount, leftOfShare, leftOfBudget].reduce((least, it) => (it < least ? it : least));
  return earned > 0n ? earned : 0n;
}

/** Returns the campaign after it has paid a reward, in units. */
export function payReward(campaign: Campaign, reward: bigint): Campaign {
  return { ...campaign, rewardsSpent: addUnits(campaign.rewardsSpent, reward) };
}

/** Returns whether a reward, in units, has spent the rest of the budget. `campaign` has already paid it. */
export function exhaustsBudget({ rewardsSpent, totalBudget }: Campaign, reward: bigint): boolean {
  return reward > 0n && toUnits(rewardsSpent) >= toUnits(totalBudget);
}
