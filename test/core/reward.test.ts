import assert from 'node:assert/strict';
import { computeReward, type RewardedAction } from '../../core/campaign/reward.ts';
import { toUnits } from '../../core/shared/amount.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const SHARE: RewardedAction = { type: 'share' };
const clicks = (count: number): RewardedAction => ({ type: 'clicks', count });
const MAX = '999999999999.9999';

/** The amounts of a campaign and of a share before an action. */
const AMOUNTS = {
  shareRewardAmount: '1.50',
  clickRewardAmount: '0.05',
  maxRewardPerEmployee: '50',
  totalBudget: '1000',
  rewardsSpent: '0',
  rewards: '0',
};

/** Differences to `AMOUNTS`, an action, and its reward. */
const cases: Readonly<Record<string, readonly [Partial<typeof AMOUNTS>, RewardedAction, string]>> = {
  'a share': [{}, SHARE, '1.5'],
  'a click': [{}, clicks(1), '0.05'],
  'many clicks': [{}, clicks(7), '0.35'],
  'no clicks': [{}, clicks(0), '0'],
  'a reward of 0': [{ clickRewardAmount: '0' }, clicks(7), '0'],
  'a reward of 0.0000': [{ shareRewardAmount: '0.0000' }, SHARE, '0'],
  'what is left of the employee': [{ rewards: '49.98' }, clicks(1), '0.02'],
  'what is left of the employee, as a part of several clicks': [{ rewards: '49.88' }, clicks(7), '0.12'],
  'exactly what is left of the employee': [{ rewards: '49.95' }, clicks(1), '0.05'],
  'nothing left of the employee': [{ rewards: '50' }, clicks(1), '0'],
  'what is left of the budget': [{ rewardsSpent: '999.9999' }, SHARE, '0.0001'],
  'exactly what is left of the budget': [{ rewardsSpent: '998.5' }, SHARE, '1.5'],
  'nothing left of the budget': [{ rewardsSpent: '1000' }, SHARE, '0'],
  'both limits, less left of the employee': [{ rewards: '49.99', rewardsSpent: '999.98' }, clicks(1), '0.01'],
  'both limits, less left of the budget': [{ rewards: '49.98', rewardsSpent: '999.99' }, clicks(1), '0.01'],
  'a share above the maximum of the employee': [{ maxRewardPerEmployee: '1' }, SHARE, '1'],
  'a maximum of 0 for the employee': [{ maxRewardPerEmployee: '0' }, SHARE, '0'],
  'a budget of 0': [{ totalBudget: '0.00' }, clicks(9), '0'],
  'a maximum that was lowered': [{ maxRewardPerEmployee: '10', rewards: '20' }, clicks(1), '0'],
  'a budget that was lowered': [{ totalBudget: '10', rewardsSpent: '20' }, clicks(1), '0'],
  '16 digits': [{ shareRewardAmount: MAX, maxRewardPerEmployee: MAX, totalBudget: MAX }, SHARE, MAX],
  '16 digits and a limit': [
    { clickRewardAmount: MAX, maxRewardPerEmployee: MAX, totalBudget: MAX, rewardsSpent: '0.0001' },
    clicks(Number.MAX_SAFE_INTEGER),
    '999999999999.9998',
  ],
};

suite('a reward', {
  'is the amount of the campaign, cut to what is left of both limits': () =>
    each(cases, ([{ rewards = '0', ...amounts }, event, expected]) => {
      assert.equal(computeReward({ ...AMOUNTS, ...amounts }, { rewards }, event), toUnits(expected));
    }),
});
