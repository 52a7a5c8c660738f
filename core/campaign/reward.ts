import { addUnits, toUnits } from '../shared/amount.ts';
import type { Campaign } from './campaign.ts';

/** An action that can earn a reward: the first share of a member, or clicks on its link. */
export type RewardedAction = { readonly type: 'share' } | { readonly type: 'clicks'; readonly count: number };

type RewardFields = 'shareRewardAmount' | 'clickRewardAmount' | 'maxRewardPerEmployee' | 'totalBudget' | 'rewardsSpent';

/**
 * Returns the reward for an action, in units (amount.ts): the amount of the campaign, but at most the rest of both
 * limits. These are `maxRewardPerEmployee` minus the earlier rewards of the share, and `totalBudget` minus all earlier
 * rewards of the campaign. If a limit was lowered below the earlier rewards, the reward is 0.
 */
export function computeReward(
  campaign: Pick<Campaign, RewardFields>,
  share: { readonly rewards: string },
  action: RewardedAction,
): bigint {
  const amount =
    action.type === 'share'
      ? toUnits(campaign.shareRewardAmount)
      : toUnits(campaign.clickRewardAmount) * BigInt(action.count);
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
