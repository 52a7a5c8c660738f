import { applyChanges } from '../shared/changes.ts';
import { CoreError, type FieldError } from '../shared/core-error.ts';
import type { Condition, Entity, Field, RecordSchema, RecordStore } from '../shared/record-store.ts';

export const CAMPAIGN_STATUSES = ['draft', 'published', 'archived'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const RESOURCE_TYPES = ['image', 'video', 'pdf'] as const;

/** A file that can be shared with a campaign, such as an image. */
export interface CampaignResource {
  readonly url: string;
  readonly type?: (typeof RESOURCE_TYPES)[number] | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
  readonly thumbnailUrl?: string | null | undefined;
  readonly language?: string | null | undefined;
  readonly order?: number | undefined;
}

/**
 * Content that employees share. `startDate` and `endDate` are stored as they were sent. `startsAt` and `endsAt` are the
 * same times in milliseconds since the epoch. Amounts are decimal strings. `searchText` is the text that searches scan.
 */
export interface Campaign extends Entity {
  readonly createdBy: string | null;
  readonly name: string;
  readonly description: string;
  readonly shareContext: string;
  readonly objective: string;
  readonly status: CampaignStatus;
  readonly archived: boolean;
  readonly destinationUrl: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly shareRewardAmount: string;
  readonly clickRewardAmount: string;
  readonly maxRewardPerEmployee: string;
  readonly totalBudget: string;
  readonly domain: string | null;
  readonly image: string | null;
  readonly tagIds: readonly string[];
  readonly groupIds: readonly string[];
  readonly resources: readonly CampaignResource[];
  readonly targetShares: number | null;
  readonly contentPillarId: string | null;
  readonly clicks: number;
  readonly shares: number;
  readonly searchText: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The fields of a campaign that responses contain (schema `Campaign` in docs/openapi.json). Add a new field of responses here. */
export const CAMPAIGN_SUMMARY_FIELDS = [
  'id',
  'name',
  'status',
  'createdAt',
  'description',
  'destinationUrl',
  'clicks',
  'shares',
  'startDate',
  'endDate',
  'targetShares',
] as const satisfies readonly Field<Campaign>[];
export type CampaignSummary = Pick<Campaign, (typeof CAMPAIGN_SUMMARY_FIELDS)[number]>;

/** The fields of a campaign to create: dates as in date.ts, amounts as in amount.ts, and the domain as a normalized slug. */
export interface NewCampaign {
  readonly name: string;
  readonly description: string;
  readonly shareContext: string;
  readonly objective: string;
  readonly status: CampaignStatus;
  readonly destinationUrl: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly shareRewardAmount: string;
  readonly clickRewardAmount: string;
  readonly maxRewardPerEmployee: string;
  readonly totalBudget: string;
  readonly domain?: string | null | undefined;
  readonly image?: string | null | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly groupIds?: readonly string[] | undefined;
  readonly resources?: readonly CampaignResource[] | undefined;
  readonly targetShares?: number | undefined;
  readonly contentPillarId?: string | null | undefined;
}

export type CampaignRecordStore = RecordStore<Campaign>;

export const campaignSchema: RecordSchema<Campaign> = {
  name: 'campaigns',
  unique: {},
  indexes: [
    ['archived', 'createdAt'],
    ['archived', 'updatedAt'],
    ['archived', 'startsAt'],
    ['tagIds', 'createdAt'],
    ['domain', 'createdAt'],
    ['createdBy', 'createdAt'],
  ],
};

/** A share of a campaign by a member. Its id combines both ids, so that a member can share a campaign only once. */
export interface Share extends Entity {
  readonly campaignId: string;
  readonly memberId: string;
  /** The `shares` of the campaign right after this share was counted. Missing if an earlier version of the service stored it. */
  readonly position?: number | undefined;
  readonly createdAt: string;
}

export type ShareRecordStore = RecordStore<Share>;

export const shareSchema: RecordSchema<Share> = { name: 'shares', unique: {}, indexes: [] };

export function createShareId(memberId: string, campaignId: string): string {
  return `${memberId}/${campaignId}`;
}

/** The maximum number of clicks in one call of `recordClicks`. */
export const MAX_CLICK_COUNT = 1_000_000_000;
export const CAMPAIGN_NAME_LENGTH = { min: 1, max: 190 };
export const MAX_RESOURCE_COUNT = 50;
export const RESOURCE_LABEL_LENGTH = { max: 255 };

export const CAMPAIGN_SORTS = ['createdAt', 'updatedAt', 'startDate'] as const;
export type CampaignSort = (typeof CAMPAIGN_SORTS)[number];

/** The stored field that each sort orders by. */
export const sortFields = {
  createdAt: 'createdAt',
  updatedAt: 'updatedAt',
  startDate: 'startsAt',
} as const satisfies Record<CampaignSort, keyof Campaign>;

export const CAMPAIGN_DATE_FILTERS = ['upcoming', 'active', 'non-upcoming'] as const;
export type CampaignDateFilter = (typeof CAMPAIGN_DATE_FILTERS)[number];

/** The conditions of each date filter, with `now` in milliseconds. A campaign is active from its start to its end, inclusive. */
export const dateFilterConditions: Record<CampaignDateFilter, (now: number) => Condition<Campaign>[]> = {
  upcoming: (now) => [{ field: 'startsAt', from: now + 1 }],
  active: (now) => [
    { field: 'startsAt', to: now },
    { field: 'endsAt', from: now },
  ],
  'non-upcoming': (now) => [{ field: 'startsAt', to: now }],
};

/** The statuses that can follow each status. */
export const statusTransitions: Record<CampaignStatus, readonly CampaignStatus[]> = {
  draft: ['published', 'archived'],
  published: ['archived'],
  archived: ['published'],
};

/**
 * Returns the campaign with another status, or the same campaign if it has this status. Throws `conflict` if the transition
 * is not allowed.
 */
export function changeStatus(campaign: Campaign, status: CampaignStatus, now: number): Campaign {
  if (campaign.status !== status && !statusTransitions[campaign.status].includes(status)) {
    const allowed = statusTransitions[campaign.status].join(' or ');
    throw new CoreError(
      'conflict',
      `The status cannot change from ${campaign.status} to ${status}. Allowed: ${allowed}.`,
    );
  }
  return applyChanges(campaign, { status, archived: status === 'archived' }, now);
}

/** Throws `conflict` if the campaign is not published. Only published campaigns can be shared or clicked. */
export function requirePublished({ status }: Campaign): void {
  if (status !== 'published') {
    throw new CoreError('conflict', `The campaign is ${status}. Publish it before you record shares or clicks.`);
  }
}

/** The error of a campaign that ends before it starts. */
export const END_BEFORE_START: FieldError = { path: 'endDate', problem: 'must not be before startDate' };
