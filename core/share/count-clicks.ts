import { newActivity } from '../activity/activity.ts';
import type { ActivityRepository } from '../activity/activity-repository.ts';
import type { Campaign } from '../campaign/campaign.ts';
import type { CampaignRepository } from '../campaign/campaign-repository.ts';
import { computeReward, exhaustsBudget, payReward } from '../campaign/reward.ts';
import type { EventFactory } from '../event/event.ts';
import type { EventRepository } from '../event/event-repository.ts';
import type { MemberRepository } from '../member/member-repository.ts';
import { addUnits, formatUnits } from '../shared/amount.ts';
import { indexById } from '../shared/entity.ts';
import { findKnownIds } from '../shared/references.ts';
import { type ClickBatch, createCheckpointId, newClickCheckpoint } from './click-checkpoint.ts';
import type { ClickCheckpointRepository } from './click-checkpoint-repository.ts';
import { createShareId } from './share.ts';
import type { ShareRepository } from './share-repository.ts';

/** The repositories of a transaction that counts clicks. */
export interface ClickRepositories {
  readonly activity: ActivityRepository;
  readonly campaigns: CampaignRepository;
  readonly clickCheckpoints: ClickCheckpointRepository;
  readonly events: EventRepository;
  readonly members: MemberRepository;
  readonly shares: ShareRepository;
}

/** The clicks on a share or on a campaign, and their rewards, in units (amount.ts). */
interface Counts {
  readonly clicks: number;
  readonly rewards: bigint;
}

const NOTHING: Counts = { clicks: 0, rewards: 0n };

/**
 * Adds a batch of clicks and their rewards to shares, campaigns and the activity of the day. Call it in a transaction.
 * Does nothing if this batch or a later one of the same process is stored already. `now` is the time of the storage.
 */
export async function countClicks(
  repositories: ClickRepositories,
  batch: ClickBatch,
  newEvent: EventFactory,
  now: number,
): Promise<void> {
  const { activity, campaigns, clickCheckpoints, events, shares } = repositories;
  const { workspaceId, clicks } = batch;
  const id = createCheckpointId(batch);
  const checkpoint = await clickCheckpoints.findById(workspaceId, id);
  if (checkpoint && checkpoint.sequence >= batch.sequence) return;
  const rewards = await computeRewards(repositories, batch);
  const [byCampaign, byShare] = [new Map<string, Counts>(), new Map<string, Counts>()];
  for (const { campaignId, memberId, count } of clicks) {
    const shareId = createShareId(memberId, campaignId);
    const counts = { clicks: count, rewards: rewards.get(shareId) ?? 0n };
    const sums = byCampaign.get(campaignId) ?? NOTHING;
    byShare.set(shareId, counts);
    byCampaign.set(campaignId, {
      clicks: sums.clicks + counts.clicks,
      rewards: sums.rewards + counts.rewards,
    });
  }
  const countedCampaigns = await campaigns.updateMany(workspaceId, [...byCampaign.keys()], (campaign) => {
    const { clicks, rewards } = byCampaign.get(campaign.id) ?? NOTHING;
    return payReward({ ...campaign, clicks: campaign.clicks + clicks }, rewards);
  });
  for (const campaign of countedCampaigns) {
    const { id: campaignId } = campaign;
    const isExhausted = exhaustsBudget(campaign, byCampaign.get(campaignId)?.rewards ?? 0n);
    if (isExhausted) await events.add(newEvent(workspaceId, 'campaign.budget_exhausted', { campaignId }));
  }
  const countedShares = await shares.updateMany(workspaceId, [...byShare.keys()], (share) => {
    const { clicks, rewards } = byShare.get(share.id) ?? NOTHING;
    return { ...share, clicks: share.clicks + clicks, rewards: addUnits(share.rewards, rewards) };
  });
  const activities = countedShares.map((share) => {
    const { clicks, rewards } = byShare.get(share.id) ?? NOTHING;
    return newActivity(share, { shares: 0, clicks, rewards: formatUnits(rewards) }, now);
  });
  await activity.addCounts(workspaceId, activities);
  const next = newClickCheckpoint(batch, now);
  if (checkpoint) await clickCheckpoints.update(workspaceId, id, () => next);
  else await clickCheckpoints.add(next);
}

/**
 * Returns the rewards for the clicks of a batch, in units, by the ID of the share. The shares of a campaign use up the
 * rest of its budget in the order of the batch. Shares of deleted members get no rewards.
 */
async function computeRewards(
  { campaigns, members, shares }: ClickRepositories,
  { workspaceId, clicks }: ClickBatch,
): Promise<ReadonlyMap<string, bigint>> {
  const campaignIds = clicks.map(({ campaignId }) => campaignId);
  const byId = new Map<string, Campaign>(indexById(await campaigns.findMany(workspaceId, campaignIds)));
  // Shares and members are read only if their campaign can pay.
  const rewarded = clicks.filter(({ campaignId, count }) => {
    const campaign = byId.get(campaignId);
    return campaign && computeReward(campaign, { rewards: '0' }, { type: 'clicks', count }) > 0n;
  });
  const shareIds = rewarded.map(({ memberId, campaignId }) => createShareId(memberId, campaignId));
  const sharesById = indexById(await shares.findMany(workspaceId, shareIds));
  const memberIds = rewarded.map(({ memberId }) => memberId);
  const presentMemberIds = await findKnownIds(members, workspaceId, memberIds);
  const rewards = new Map<string, bigint>();
  for (const { campaignId, memberId, count } of rewarded) {
    const campaign = byId.get(campaignId);
    const share = sharesById.get(createShareId(memberId, campaignId));
    if (!campaign || !share || !presentMemberIds.has(memberId)) continue;
    const earned = computeReward(campaign, share, { type: 'clicks', count });
    rewards.set(share.id, earned);
    byId.set(campaignId, payReward(campaign, earned));
  }
  return rewards;
}
