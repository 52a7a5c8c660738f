import assert from 'node:assert/strict';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { toUnits } from '../../core/shared/amount.ts';

interface Counted {
  readonly clicks: number;
  readonly rewards: string;
}

const sum = (counted: readonly Counted[]) => ({
  clicks: counted.reduce((total, { clicks }) => total + clicks, 0),
  units: counted.reduce((total, { rewards }) => total + toUnits(rewards), 0n),
});

/**
 * Asserts that no limit of a campaign is exceeded, and that its clicks and rewards are the sums of those of its shares.
 * Those of each share must be the sums of its activity. The campaign is the only one of its workspace. Returns the
 * clicks and the rewards of the campaign.
 */
export async function assertRewardsAgree(engine: StorageEngine, workspaceId: string): Promise<Counted> {
  const [[campaign], shares, activities] = await engine.runInTransaction(async (snapshot) => [
    await snapshot.campaigns.listById(workspaceId, '', 1),
    await snapshot.shares.listById(workspaceId, '', 10_000),
    await snapshot.activity.listById(workspaceId, '', 10_000),
  ]);
  assert.ok(campaign);
  const { clicks, rewardsSpent, totalBudget, maxRewardPerEmployee } = campaign;
  assert.deepEqual(sum(shares), { clicks, units: toUnits(rewardsSpent) });
  assert.ok(toUnits(rewardsSpent) <= toUnits(totalBudget), rewardsSpent);
  for (const share of shares) {
    const rows = activities.filter(({ id, day }) => id === `${day}/${share.id}`);
    assert.deepEqual(sum(rows), sum([share]));
    assert.ok(toUnits(share.rewards) <= toUnits(maxRewardPerEmployee), share.rewards);
  }
  assert.deepEqual(sum(activities), sum(shares));
  const shareCount = activities.reduce((total, row) => total + row.shares, 0);
  assert.deepEqual([campaign.shares, shareCount], [shares.length, shares.length]);
  return { clicks, rewards: rewardsSpent };
}
