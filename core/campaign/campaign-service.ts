import type { Actor } from '../access/caller.ts';
import type { MemberRecordStore } from '../access/member.ts';
import { addValidRecords, type BatchResult, isRejected } from '../shared/batch.ts';
import { createInvalidFieldsError, type FieldError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp, parseEndDate, parseStartDate } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import { memoize } from '../shared/memoize.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition } from '../shared/record-store.ts';
import type { System } from '../shared/system.ts';
import { buildSearchText, fold } from '../shared/text.ts';
import {
  CAMPAIGN_SUMMARY_FIELDS,
  type Campaign,
  type CampaignDateFilter,
  type CampaignRecordStore,
  type CampaignSort,
  type CampaignStatus,
  type CampaignSummary,
  changeStatus,
  createShareId,
  dateFilterConditions,
  END_BEFORE_START,
  type NewCampaign,
  requirePublished,
  type ShareRecordStore,
  sortFields,
} from './campaign.ts';
import { findCampaignReferenceErrors, findKnownReferences, type ReferencedStorage } from './campaign-references.ts';

export interface CampaignQuery extends PageRequest {
  /** A normalized slug. `null` stands for a text that cannot be normalized, and matches nothing. */
  readonly domain?: string | null | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly tagNames?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly includeArchived: boolean;
  readonly filter?: CampaignDateFilter | undefined;
  readonly search?: string | undefined;
  readonly sortBy: CampaignSort;
}

/** `hasShared` says whether the actor's member shared the campaign. It is absent if the actor is not a member. */
export type CampaignView = CampaignSummary & { readonly hasShared?: boolean };

/** The part of `Storage` that `CampaignService` uses. */
export interface CampaignStorage extends ReferencedStorage {
  readonly campaigns: CampaignRecordStore;
  readonly shares: ShareRecordStore;
  readonly members: MemberRecordStore;
  runInTransaction<T>(work: (storage: CampaignStorage) => Promise<T>): Promise<T>;
}

/** The use cases of campaigns. */
export class CampaignService {
  constructor(
    private readonly storage: CampaignStorage,
    private readonly system: System,
  ) {}

  /**
   * Creates a campaign. Rejects with `invalid` if it ends before it starts, or if it refers to a record that the workspace
   * does not have.
   */
  async create(actor: Actor, fields: NewCampaign): Promise<Campaign & CampaignView> {
    const [campaign] = (await this.checkMany(actor, [fields])) as [BatchResult<Campaign>];
    if (isRejected(campaign)) throw campaign;
    await this.storage.campaigns.add(campaign);
    return actor.member ? { hasShared: false, ...campaign } : campaign;
  }

  /** Builds the campaigns of a batch and checks them, without storing them. Each result is a campaign or the error of `create`. */
  async checkMany(
    { workspaceId, member }: Actor,
    batch: readonly NewCampaign[],
  ): Promise<readonly BatchResult<Campaign>[]> {
    const known = await findKnownReferences(this.storage, workspaceId, batch);
    return batch.map((fields) => {
      const period = parseDates(fields);
      if ('error' in period) return createInvalidFieldsError([period.error]);
      const errors = findCampaignReferenceErrors(fields, known);
      return errors.length > 0
        ? createInvalidFieldsError(errors)
        : this.buildCampaign(workspaceId, member?.id ?? null, fields, period);
    });
  }

  /** Creates a batch. With `ids`, the call can be retried (`addValidRecords` in batch.ts). */
  async createMany(
    actor: Actor,
    batch: readonly NewCampaign[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<Campaign>[]> {
    return addValidRecords(this.storage.campaigns, actor.workspaceId, await this.checkMany(actor, batch), ids);
  }

  /** Returns a campaign. Rejects with `not_found` if the workspace does not have it. */
  async get(actor: Actor, id: string): Promise<CampaignView> {
    const campaign = requireFound(
      await this.storage.campaigns.get(actor.workspaceId, id, CAMPAIGN_SUMMARY_FIELDS),
      'campaign',
    );
    return toView(campaign, await this.findSharedIds(actor, [campaign]));
  }

  /** Returns a page of the campaigns that match all filters, in descending order of `sortBy`. */
  async list(actor: Actor, query: CampaignQuery): Promise<Page<CampaignView>> {
    const { domain, tagIds, tagNames, userId, includeArchived, filter, search, sortBy, ...page } = query;
    const where: Condition<Campaign>[] = filter ? dateFilterConditions[filter](this.system.now()) : [];
    where.push({ field: 'archived', in: includeArchived ? [false, true] : [false] });
    if (domain !== undefined) where.push({ field: 'domain', in: domain === null ? [] : [domain] });
    if (tagIds) where.push({ field: 'tagIds', in: tagIds });
    if (tagNames) where.push({ field: 'tagIds', in: await this.findTagIds(actor.workspaceId, tagNames) });
    if (userId) where.push({ field: 'createdBy', is: userId });
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    const listQuery = { where, by: sortFields[sortBy], order: 'desc', fields: CAMPAIGN_SUMMARY_FIELDS } as const;
    const { items, hasNext } = await readPage(this.storage.campaigns, actor.workspaceId, listQuery, page);
    const sharedIds = await this.findSharedIds(actor, items);
    return { items: items.map((campaign) => toView(campaign, sharedIds)), hasNext };
  }

  /** Iterates over all campaigns, including archived campaigns, in creation order. */
  iterate(workspaceId: string): AsyncIterable<Campaign> {
    return iterateById((after, take) => this.storage.campaigns.listById(workspaceId, after, take));
  }

  /** Changes the status. Rejects with `conflict` if the transition is not allowed (`statusTransitions`). */
  async setStatus(workspaceId: string, id: string, status: CampaignStatus): Promise<Campaign> {
    const now = this.system.now();
    const change = (campaign: Campaign): Campaign => changeStatus(campaign, status, now);
    return requireFound(await this.storage.campaigns.update(workspaceId, id, change), 'campaign');
  }

  /**
   * Records that a member shared a published campaign. A second share of the same member changes nothing. One transaction
   * adds the share and increments the counter, so that both always agree.
   */
  async recordShare(workspaceId: string, campaignId: string, memberId: string): Promise<Campaign> {
    requireFound(await this.storage.members.get(workspaceId, memberId), 'member');
    return this.storage.runInTransaction(async ({ campaigns, shares }) => {
      const campaign = requireFound(await campaigns.get(workspaceId, campaignId), 'campaign');
      requirePublished(campaign);
      const id = createShareId(memberId, campaignId);
      if (await shares.get(workspaceId, id)) return campaign;
      const countShare = (current: Campaign): Campaign => ({ ...current, shares: current.shares + 1 });
      const updated = requireFound(await campaigns.update(workspaceId, campaignId, countShare), 'campaign');
      const createdAt = formatTimestamp(this.system.now());
      await shares.add({ id, workspaceId, campaignId, memberId, position: updated.shares, createdAt });
      return updated;
    });
  }

  /** Adds clicks to a published campaign. */
  async recordClicks(workspaceId: string, id: string, count: number): Promise<Campaign> {
    const addClicks = (campaign: Campaign): Campaign => {
      requirePublished(campaign);
      return { ...campaign, clicks: campaign.clicks + count };
    };
    return requireFound(await this.storage.campaigns.update(workspaceId, id, addClicks), 'campaign');
  }

  private buildCampaign(workspaceId: string, createdBy: string | null, fields: NewCampaign, period: Period): Campaign {
    const { domain = null, image = null, targetShares = null, contentPillarId = null, ...others } = fields;
    const { tagIds = [], groupIds = [], resources = [], ...requiredFields } = others;
    const now = formatTimestamp(this.system.now());
    // The large spread comes last: if named fields follow it, V8 creates a separate hidden class for each of many objects.
    return {
      id: this.system.newId(),
      workspaceId,
      createdBy,
      archived: fields.status === 'archived',
      ...period,
      domain,
      image,
      tagIds,
      groupIds,
      resources,
      targetShares,
      contentPillarId,
      clicks: 0,
      shares: 0,
      searchText: buildSearchText(fields.name, fields.description),
      createdAt: now,
      updatedAt: now,
      ...requiredFields,
    };
  }

  private async findTagIds(workspaceId: string, names: readonly string[]): Promise<readonly string[]> {
    const tags = await this.storage.tags.list(workspaceId, {
      where: [{ field: 'foldedName', in: names.map(fold) }],
      by: 'createdAt',
      order: 'asc',
      skip: 0,
      take: names.length,
    });
    return tags.map(({ id }) => id);
  }

  /**
   * Returns the ids of the campaigns that the member has shared, or `undefined` if the actor is not a member. Shares are read
   * after the campaigns. A share that was added in between is ignored, so that `hasShared` and the count `shares` agree.
   */
  private async findSharedIds(
    { workspaceId, member }: Actor,
    campaigns: readonly CampaignSummary[],
  ): Promise<ReadonlySet<string> | undefined> {
    if (!member) return undefined;
    const sharedCampaigns = campaigns.filter(({ shares }) => shares > 0);
    if (sharedCampaigns.length === 0) return NO_CAMPAIGN_IDS;
    const ids = sharedCampaigns.map(({ id }) => createShareId(member.id, id));
    const shares = await this.storage.shares.getMany(workspaceId, ids, ['position']);
    const positions = new Map(shares.map(({ id, position = 0 }) => [id, position]));
    const isShared = ({ id, shares }: CampaignSummary) =>
      (positions.get(createShareId(member.id, id)) ?? Number.POSITIVE_INFINITY) <= shares;
    return new Set(sharedCampaigns.filter(isShared).map(({ id }) => id));
  }
}

const NO_CAMPAIGN_IDS: ReadonlySet<string> = new Set();

function toView(campaign: CampaignSummary, sharedIds: ReadonlySet<string> | undefined): CampaignView {
  if (!sharedIds) return campaign;
  return (sharedIds.has(campaign.id) ? markShared : markUnshared)(campaign);
}

const markShared = memoize((campaign: CampaignSummary): CampaignView => ({ hasShared: true, ...campaign }));
const markUnshared = memoize((campaign: CampaignSummary): CampaignView => ({ hasShared: false, ...campaign }));

/** The start and the end of a campaign in milliseconds since the epoch. */
type Period = Pick<Campaign, 'startsAt' | 'endsAt'>;

function parseDates({ startDate, endDate }: NewCampaign): Period | { readonly error: FieldError } {
  const startsAt = parseStartDate(startDate);
  const endsAt = parseEndDate(endDate);
  if (startsAt === undefined) return { error: { path: 'startDate', problem: 'must be a valid date' } };
  if (endsAt === undefined) return { error: { path: 'endDate', problem: 'must be a valid date' } };
  return endsAt < startsAt ? { error: END_BEFORE_START } : { startsAt, endsAt };
}
