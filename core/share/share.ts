import type { Campaign } from '../campaign/campaign.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** A share of a campaign by a member. Its ID combines both IDs, so that a member can share a campaign only once. */
export interface Share extends Entity {
  readonly campaignId: string;
  readonly memberId: string;
  /**
   * The number of this share among the shares of its campaign: the campaign's `shares` right after this share was
   * counted.
   */
  readonly position: number;
  /** The key of the short link. */
  readonly linkKey: string;
  /** The number of clicks on the link of the member. */
  readonly clicks: number;
  /** The rewards for the share and its clicks, as a decimal string. */
  readonly rewards: string;
  readonly createdAt: string;
}

export const SHARE_SORTS = ['createdAt', 'clicks'] as const;
export type ShareSort = (typeof SHARE_SORTS)[number];

export function createShareId(memberId: string, campaignId: string): string {
  return `${memberId}/${campaignId}`;
}

/** Returns the share that a member made. `campaign` is the campaign after the share was counted. */
export function newShare(
  campaign: Campaign,
  memberId: string,
  { linkKey, rewards }: Pick<Share, 'linkKey' | 'rewards'>,
  now: number,
): Share {
  const { id: campaignId, workspaceId, shares: position } = campaign;
  const id = createShareId(memberId, campaignId);
  const createdAt = formatTimestamp(now);
  return { id, workspaceId, campaignId, memberId, position, linkKey, clicks: 0, rewards, createdAt };
}
