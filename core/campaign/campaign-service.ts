import type { Actor } from '../access/caller.ts';
import type { MemberRepository } from '../access/member-repository.ts';
import { addValidRecords, type BatchResult, isRejected } from '../shared/batch.ts';
import { createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import {
  type Campaign,
  type CampaignDateFilter,
  type CampaignSort,
  type CampaignStatus,
  type CampaignSummary,
  changeStatus,
  dateWindows,
  findDateError,
  type NewCampaign,
  newCampaign,
  newShare,
  requirePublished,
} from './campaign.ts';
import { findCampaignReferenceErrors, findKnownReferences, type ReferencedStorage } from './campaign-references.ts';
import type { CampaignRepository } from './campaign-repository.ts';
import type { ShareRepository } from './share-repository.ts';

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
  readonly campaigns: CampaignRepository;
  readonly shares: ShareRepository;
  readonly members: MemberRepository;
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
      const dateError = findDateError(fields);
      const errors = dateError ? [dateError] : findCampaignReferenceErrors(fields, known);
      return errors.length > 0
        ? createInvalidFieldsError(errors)
        : newCampaign(workspaceId, this.system.newId(), member?.id ?? null, fields, this.system.now());
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
    const campaign = requireFound(await this.storage.campaigns.findSummary(actor.workspaceId, id), 'campaign');
    return toView(campaign, await this.findSharedIds(actor, [campaign]));
  }

  /** Returns a page of the campaigns that match all filters, in descending order of `sortBy`. */
  async list(actor: Actor, query: CampaignQuery): Promise<Page<CampaignView>> {
    const { workspaceId } = actor;
    const { domain, tagIds, tagNames, userId, includeArchived, filter, search, sortBy } = query;
    const tagLists = [...(tagIds ? [tagIds] : []), ...(tagNames ? [await this.findTagIds(workspaceId, tagNames)] : [])];
    const dates = filter && dateWindows[filter](this.system.now());
    const { items, hasNext } = await this.storage.campaigns.page(
      workspaceId,
      { domain, tagIds: tagLists, createdBy: userId, includeArchived, dates, search, sortBy },
      query,
    );
    const sharedIds = await this.findSharedIds(actor, items);
    return { items: items.map((campaign) => toView(campaign, sharedIds)), hasNext };
  }

  /** Iterates over all campaigns, including archived campaigns, in creation order. */
  iterate(workspaceId: string): AsyncIterable<Campaign> {
    return this.storage.campaigns.iterate(workspaceId);
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
    requireFound(await this.storage.members.findById(workspaceId, memberId), 'member');
    return this.storage.runInTransaction(async ({ campaigns, shares }) => {
      const campaign = requireFound(await campaigns.findById(workspaceId, campaignId), 'campaign');
      requirePublished(campaign);
      if ((await shares.findPositions(workspaceId, memberId, [campaignId])).has(campaignId)) return campaign;
      const countShare = (current: Campaign): Campaign => ({ ...current, shares: current.shares + 1 });
      const updated = requireFound(await campaigns.update(workspaceId, campaignId, countShare), 'campaign');
      await shares.add(newShare(updated, memberId, this.system.now()));
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

  private async findTagIds(workspaceId: string, names: readonly string[]): Promise<readonly string[]> {
    return (await this.storage.tags.findByNames(workspaceId, names)).map(({ id }) => id);
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
    if (sharedCampaigns.length === 0) return new Set();
    const ids = sharedCampaigns.map(({ id }) => id);
    const positions = await this.storage.shares.findPositions(workspaceId, member.id, ids);
    const isShared = ({ id, shares }: CampaignSummary) => (positions.get(id) ?? Number.POSITIVE_INFINITY) <= shares;
    return new Set(sharedCampaigns.filter(isShared).map(({ id }) => id));
  }
}

function toView(campaign: CampaignSummary, sharedIds: ReadonlySet<string> | undefined): CampaignView {
  return sharedIds ? { ...campaign, hasShared: sharedIds.has(campaign.id) } : campaign;
}
