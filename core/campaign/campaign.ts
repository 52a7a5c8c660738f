import { applyChanges, type Changes, selectMissingDefaults } from '../shared/changes.ts';
import { CoreError, createInvalidFieldsError, type FieldError } from '../shared/core-error.ts';
import { formatTimestamp, type ParsedDate } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

export const CAMPAIGN_STATUSES = ['draft', 'published', 'archived'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const RESOURCE_TYPES = ['image', 'video', 'pdf'] as const;

/** A file that can be shared with a campaign, such as an image. */
export interface CampaignResource {
  readonly url: string;
  readonly type?: (typeof RESOURCE_TYPES)[number] | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly thumbnailUrl?: string | undefined;
  readonly language?: string | undefined;
  readonly order?: number | undefined;
}

/**
 * Content that employees share. `startDate` and `endDate` are as they were sent. `startsAt` and `endsAt` are their
 * times in milliseconds since the epoch. Amounts are decimal strings.
 */
export interface Campaign extends Entity {
  readonly createdBy: string | null;
  readonly name: string;
  readonly description: string;
  readonly shareContext: string;
  readonly objective: string;
  readonly status: CampaignStatus;
  readonly destinationUrl: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly shareRewardAmount: string;
  readonly clickRewardAmount: string;
  readonly maxRewardPerEmployee: string;
  readonly totalBudget: string;
  /** The sum of the rewards of all shares. */
  readonly rewardsSpent: string;
  readonly domain: string | null;
  readonly image: string | null;
  readonly tagIds: readonly string[];
  readonly groupIds: readonly string[];
  readonly resources: readonly CampaignResource[];
  readonly targetShares: number | null;
  readonly contentPillarId: string | null;
  readonly clicks: number;
  readonly shares: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * The fields that lists and single reads of campaigns return. They read no other fields, because a campaign can be
 * large. Briefs have all fields.
 */
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
] as const satisfies readonly (keyof Campaign)[];
export type CampaignSummary = Pick<Campaign, (typeof CAMPAIGN_SUMMARY_FIELDS)[number]>;

/** The optional fields of a campaign to create, with their defaults. */
const DEFAULTS = {
  domain: null,
  image: null,
  tagIds: [],
  groupIds: [],
  resources: [],
  targetShares: null,
  contentPillarId: null,
} as const satisfies Partial<Campaign>;

/** The counters of a new campaign. */
const COUNTERS = { clicks: 0, shares: 0, rewardsSpent: '0' } as const satisfies Partial<Campaign>;

type OptionalFields = Pick<Campaign, keyof typeof DEFAULTS>;

/** The dates of a campaign to create. `startsAt` and `endsAt` are taken from them. */
interface NewDates {
  readonly startDate: ParsedDate;
  readonly endDate: ParsedDate;
}

/** The fields of a campaign that its creator does not set. */
type GeneratedFields = Counters | 'createdBy' | 'startsAt' | 'endsAt' | 'createdAt' | 'updatedAt';
type Counters = keyof typeof COUNTERS;

/**
 * The fields of a campaign to create. The dates are parsed, amounts have the form that amount.ts returns, and the
 * domain is a normalized slug.
 */
export type NewCampaignFields = Omit<Campaign, keyof Entity | keyof OptionalFields | keyof NewDates | GeneratedFields> &
  NewDates &
  Changes<OptionalFields>;

/**
 * The fields of a campaign to change. Omitted fields are unchanged, and `null` removes the value of a field that can be
 * `null`.
 */
export type CampaignChange = Changes<NewCampaignFields>;

export const CAMPAIGN_SORTS = ['createdAt', 'updatedAt', 'startDate'] as const;
export type CampaignSort = (typeof CAMPAIGN_SORTS)[number];

export const CAMPAIGN_DATE_FILTERS = ['upcoming', 'active', 'non-upcoming'] as const;
export type CampaignDateFilter = (typeof CAMPAIGN_DATE_FILTERS)[number];

/** The bounds of the start and the end of a campaign, in milliseconds since the epoch. All bounds are inclusive. */
export interface DateWindow {
  readonly minStart?: number;
  readonly maxStart?: number;
  readonly minEnd?: number;
}

/** The window of each date filter for the time `now`. A campaign is active at its exact start and end, too. */
export const dateWindows: Record<CampaignDateFilter, (now: number) => DateWindow> = {
  upcoming: (now) => ({ minStart: now + 1 }),
  active: (now) => ({ maxStart: now, minEnd: now }),
  'non-upcoming': (now) => ({ maxStart: now }),
};

export const statusTransitions: Record<CampaignStatus, readonly CampaignStatus[]> = {
  draft: ['published', 'archived'],
  published: ['archived'],
  archived: ['published'],
};

/**
 * Returns the campaign with the given fields changed, or the same campaign if nothing changes. Throws `invalid` if the
 * campaign would end before it starts, and `conflict` if the transition to the status is not allowed.
 */
export function changeCampaign(campaign: Campaign, change: CampaignChange, now: number): Campaign {
  const dateError = findDateError(change, campaign);
  if (dateError) throw createInvalidFieldsError([dateError]);
  const { status = campaign.status } = change;
  if (campaign.status !== status && !statusTransitions[campaign.status].includes(status)) {
    const allowed = statusTransitions[campaign.status].join(' or ');
    throw new CoreError(
      'conflict',
      `The status cannot change from ${campaign.status} to ${status}. Allowed: ${allowed}.`,
      'status_transition',
    );
  }
  const { startDate, endDate, ...others } = change;
  const dates = { ...(startDate && toStart(startDate)), ...(endDate && toEnd(endDate)) };
  return applyChanges(campaign, { ...others, ...dates }, now);
}

/** Throws `conflict` unless the campaign is published, has started and has not ended. Only then it can be shared. */
export function requireRunning({ status, startsAt, endsAt }: Campaign, now: number): void {
  const problems = [
    ...(status === 'published' ? [] : [status === 'draft' ? 'is a draft' : 'is archived']),
    ...(now < startsAt ? ['has not started'] : []),
    ...(now > endsAt ? ['has ended'] : []),
  ];
  if (problems.length === 0) return;
  const message = `The campaign ${problems.join(' and ')}. Share a published campaign between its start and its end.`;
  throw new CoreError('conflict', message, 'campaign_not_running');
}

/** Throws `conflict` unless the campaign is a draft. Nothing refers to a draft, because it was never shared. */
export function requireDraft({ status }: Campaign): void {
  if (status !== 'draft') {
    const message = `The campaign is ${status}, and only a draft can be deleted. Archive a published campaign instead.`;
    throw new CoreError('conflict', message, 'not_draft');
  }
}

export const END_BEFORE_START: FieldError = { path: 'endDate', problem: 'must not be before startDate' };

/**
 * Returns the error of the dates of a new campaign, or of the `current` campaign after a change. Returns `undefined` if
 * there is none.
 */
export function findDateError(
  { startDate, endDate }: Changes<NewDates>,
  current?: Pick<Campaign, 'startsAt' | 'endsAt'>,
): FieldError | undefined {
  const startsAt = startDate?.time ?? current?.startsAt;
  const endsAt = endDate?.time ?? current?.endsAt;
  return startsAt !== undefined && endsAt !== undefined && endsAt < startsAt ? END_BEFORE_START : undefined;
}

/** Returns a new campaign. `createdBy` is the ID of the member who creates it, or `null`. */
export function newCampaign(
  workspaceId: string,
  id: string,
  createdBy: string | null,
  fields: NewCampaignFields,
  now: number,
): Campaign {
  const createdAt = formatTimestamp(now);
  const defaults = selectMissingDefaults(DEFAULTS, fields);
  const values = { ...fields, ...defaults, ...toStart(fields.startDate), ...toEnd(fields.endDate) };
  return { id, workspaceId, createdBy, ...COUNTERS, createdAt, updatedAt: createdAt, ...values };
}

const toStart = ({ text, time }: ParsedDate) => ({ startDate: text, startsAt: time });
const toEnd = ({ text, time }: ParsedDate) => ({ endDate: text, endsAt: time });
