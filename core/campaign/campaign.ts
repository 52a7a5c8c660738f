import { withChanges } from '../shared/changes.ts';
import { CoreError, type FieldError } from '../shared/core-error.ts';
import type { Condition, Entity, Field, RecordSchema, RecordStore } from '../shared/record-store.ts';

export const CAMPAIGN_STATUSES = ['draft', 'published', 'archived'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const RESOURCE_TYPES = ['image', 'video', 'pdf'] as const;

/** Something to share with a campaign. */
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
 * Content that employees share. The dates are kept as they were sent, and as the moments that they mean (`startsAt`,
 * `endsAt`: milliseconds since the epoch); amounts are decimal strings.
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

/** What is shown of a campaign (specification: Campaign). */
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

/** A campaign to be made: dates as in date.ts, amounts as in amount.ts, the domain in a slug's normal form. */
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

export type CampaignRepository = RecordStore<Campaign>;

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

/** That a member has shared a campaign; its id is made of both, so that there is one at most. */
export interface Share extends Entity {
  readonly campaignId: string;
  readonly memberId: string;
  /** The `shares` of the campaign right after this share was counted. Missing in shares of earlier versions. */
  readonly position?: number | undefined;
  readonly createdAt: string;
}

export type ShareRepository = RecordStore<Share>;

export const shareSchema: RecordSchema<Share> = { name: 'shares', unique: {}, indexes: [] };

export function shareId(memberId: string, campaignId: string): string {
  return `${memberId}/${campaignId}`;
}

/** The most clicks that are recorded at once. */
export const MAX_CLICK_COUNT = 1_000_000_000;
export const CAMPAIGN_NAME = { min: 1, max: 190 };
export const MAX_RESOURCE_COUNT = 50;
export const RESOURCE_LABEL = { max: 255 };

export const CAMPAIGN_SORTS = ['createdAt', 'updatedAt', 'startDate'] as const;
export type CampaignSort = (typeof CAMPAIGN_SORTS)[number];

/** The field that carries the order of each sort. */
export const sortFields = {
  createdAt: 'createdAt',
  updatedAt: 'updatedAt',
  startDate: 'startsAt',
} as const satisfies Record<CampaignSort, keyof Campaign>;

export const CAMPAIGN_WINDOWS = ['upcoming', 'active', 'non-upcoming'] as const;
export type CampaignWindow = (typeof CAMPAIGN_WINDOWS)[number];

/** What each window asks of the dates alone; a campaign is active at its start and at its end too. */
export const windowConditions: Record<CampaignWindow, (now: number) => Condition<Campaign>[]> = {
  upcoming: (now) => [{ field: 'startsAt', from: now + 1 }],
  active: (now) => [
    { field: 'startsAt', to: now },
    { field: 'endsAt', from: now },
  ],
  'non-upcoming': (now) => [{ field: 'startsAt', to: now }],
};

/** Where each status leads. */
export const statusTransitions: Record<CampaignStatus, readonly CampaignStatus[]> = {
  draft: ['published', 'archived'],
  published: ['archived'],
  archived: ['published'],
};

/** The campaign in another status; in the one that it has, unchanged. Refuses with `conflict` where none leads there. */
export function withStatus(campaign: Campaign, status: CampaignStatus, now: number): Campaign {
  if (campaign.status !== status && !statusTransitions[campaign.status].includes(status)) {
    const allowed = statusTransitions[campaign.status].join(' or ');
    throw new CoreError('conflict', `A campaign goes from ${campaign.status} to ${allowed}, not to ${status}.`);
  }
  return withChanges(campaign, { status, archived: status === 'archived' }, now);
}

/** Refuses with `conflict` a campaign that nobody can share or click, because it is not published. */
export function requirePublished({ status }: Campaign): void {
  if (status !== 'published') {
    throw new CoreError('conflict', `Only a published campaign can be shared or clicked; this one is ${status}.`);
  }
}

/** What is wrong with a campaign that ends before it starts. */
export const END_BEFORE_START: FieldError = { path: 'endDate', problem: 'must not be before startDate' };
