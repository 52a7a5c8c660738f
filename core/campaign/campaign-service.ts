import type { EventFactory } from '../event/event.ts';
import type { EventRepository } from '../event/event-repository.ts';
import { findExistingGroupIds, selectExistingGroups } from '../group/group-references.ts';
import type { Actor } from '../shared/actor.ts';
import { createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import { indexById } from '../shared/entity.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
import type { System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import { type Brief, selectInOrder, toBrief } from './brief.ts';
import {
  type Campaign,
  type CampaignChange,
  type CampaignDateFilter,
  type CampaignSummary,
  changeCampaign,
  dateWindows,
  findDateError,
  type NewCampaignFields,
  newCampaign,
  requireDraft,
} from './campaign.ts';
import {
  findCampaignReferenceErrors,
  type ReferencedRepositories,
  selectChangedReferences,
} from './campaign-references.ts';
import type { CampaignFilter, CampaignRepository } from './campaign-repository.ts';

/**
 * The filters, the order and the page of a list of campaigns. `userId` is the ID of the member who created the
 * campaigns.
 */
export interface CampaignQuery
  extends PageRequest,
    Omit<CampaignFilter, 'tagIds' | 'createdBy' | 'dates' | 'availability'> {
  readonly tagIds?: readonly string[] | undefined;
  readonly tagNames?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly filter?: CampaignDateFilter | undefined;
  /** Only campaigns that the actor can share now: running ones without groups, or with a group of its member. */
  readonly availableToMe?: boolean | undefined;
}

/** `hasShared` says whether the actor's member shared the campaign. It is absent if the actor has no member. */
export type CampaignView = CampaignSummary & { readonly hasShared?: boolean };

interface CampaignRepositories {
  readonly campaigns: CampaignRepository;
  readonly events: EventRepository;
}

export class CampaignService {
  constructor(
    private readonly campaigns: CampaignRepository,
    private readonly referenced: ReferencedRepositories,
    private readonly unitOfWork: UnitOfWork<CampaignRepositories>,
    private readonly system: System,
    private readonly newEvent: EventFactory,
  ) {}

  /**
   * Creates a campaign. Rejects with `invalid` if it ends before it starts, or if one of its references is invalid
   * (`findCampaignReferenceErrors`).
   */
  async create({ workspaceId, member }: Actor, fields: NewCampaignFields): Promise<Campaign & CampaignView> {
    const dateError = findDateError(fields);
    const errors = dateError ? [dateError] : await findCampaignReferenceErrors(this.referenced, workspaceId, fields);
    if (errors.length > 0) throw createInvalidFieldsError(errors);
    const campaign = newCampaign(workspaceId, this.system.newId(), member?.id ?? null, fields, this.system.now());
    await this.add(campaign);
    return toView(campaign, member && new Set());
  }

  async get(actor: Actor, id: string): Promise<CampaignView> {
    const campaign = requireFound(await this.campaigns.findSummary(actor.workspaceId, id), 'campaign');
    return toView(campaign, await this.findSharedIds(actor, [campaign]));
  }

  async list(actor: Actor, query: CampaignQuery): Promise<Page<CampaignView>> {
    const { workspaceId } = actor;
    const { tagIds, tagNames, userId, filter, availableToMe, ...others } = query;
    const { tags, groups } = this.referenced;
    // Campaigns keep the IDs of deleted tags. So the given IDs are looked up like the names, and IDs of deleted tags
    // match nothing.
    const [tagsById, tagsByName, groupIds, { member }] = await Promise.all([
      tagIds && tags.findMany(workspaceId, tagIds),
      tagNames && tags.findByNames(workspaceId, tagNames),
      findExistingGroupIds(groups, workspaceId, query.groupIds),
      availableToMe ? selectExistingGroups(groups, actor) : actor,
    ]);
    const tagLists = [tagsById, tagsByName].filter((list) => list !== undefined);
    const now = this.system.now();
    const campaignFilter = {
      ...others,
      tagIds: tagLists.map((list) => list.map(({ id }) => id)),
      groupIds,
      createdBy: userId,
      dates: filter && dateWindows[filter](now),
      includeArchived: query.includeArchived || query.status?.includes('archived') === true,
      availability: availableToMe ? { groupIds: member?.groupIds ?? [], now } : undefined,
    };
    const { items, hasNext } = await this.campaigns.findPage(workspaceId, campaignFilter, query);
    const sharedIds = await this.findSharedIds(actor, items);
    return { items: items.map((campaign) => toView(campaign, sharedIds)), hasNext };
  }

  /**
   * Updates a campaign. Rejects with `invalid` if the campaign would end before it starts, or if a changed reference is
   * invalid. Rejects with `conflict` if the transition of the status is not allowed (`statusTransitions`).
   */
  async update(actor: Actor, id: string, change: CampaignChange): Promise<Campaign & CampaignView> {
    const { workspaceId } = actor;
    const current = requireFound(await this.campaigns.findById(workspaceId, id), 'campaign');
    const dateError = findDateError(change, current);
    const references = selectChangedReferences(current, change);
    const referenceErrors = await findCampaignReferenceErrors(this.referenced, workspaceId, references);
    const errors = [...(dateError ? [dateError] : []), ...referenceErrors];
    if (errors.length > 0) throw createInvalidFieldsError(errors);
    const now = this.system.now();
    const apply = (campaign: Campaign): Campaign => changeCampaign(campaign, change, now);
    const updated = requireFound(await this.applyChange(current, change, apply), 'campaign');
    return toView(updated, await this.findSharedIds(actor, [updated]));
  }

  async getBrief(workspaceId: string, id: string): Promise<Brief> {
    const [brief] = await this.getBriefs(workspaceId, [id]);
    return requireFound(brief, 'campaign');
  }

  /** Returns the briefs of campaigns in the order of the IDs. Unknown IDs are left out. */
  async getBriefs(workspaceId: string, ids: readonly string[]): Promise<readonly Brief[]> {
    const campaigns = await this.campaigns.findMany(workspaceId, ids);
    const { tags, groups, contentPillars } = this.referenced;
    const tagIds = campaigns.flatMap((campaign) => campaign.tagIds);
    const groupIds = campaigns.flatMap((campaign) => campaign.groupIds);
    const pillarIds = campaigns.flatMap(({ contentPillarId }) => contentPillarId ?? []);
    const [foundTags, foundGroups, foundPillars] = await Promise.all([
      tags.findMany(workspaceId, tagIds),
      groups.findMany(workspaceId, groupIds),
      contentPillars.findMany(workspaceId, pillarIds),
    ]);
    const records = {
      tags: indexById(foundTags),
      groups: indexById(foundGroups),
      contentPillars: indexById(foundPillars),
    };
    return selectInOrder(ids, indexById(campaigns)).map((campaign) => toBrief(campaign, records));
  }

  /** Deletes a draft. Rejects with `conflict` if the campaign is not a draft. */
  async remove(workspaceId: string, id: string): Promise<void> {
    await this.unitOfWork.run(async ({ campaigns }) => {
      requireDraft(requireFound(await campaigns.findById(workspaceId, id), 'campaign'));
      await campaigns.remove(workspaceId, id);
    });
  }

  /** Adds a campaign. Only a published one adds an event, so drafts need no transaction. */
  private async add(campaign: Campaign): Promise<void> {
    const { id, workspaceId, status } = campaign;
    if (status !== 'published') return this.campaigns.add(campaign);
    return this.unitOfWork.run(async ({ campaigns, events }) => {
      await events.add(this.newEvent(workspaceId, 'campaign.published', { campaignId: id }));
      await campaigns.add(campaign);
    });
  }

  /** Changes a campaign. Only a change of the status adds an event, so other changes need no transaction. */
  private applyChange(
    { id, workspaceId }: Campaign,
    { status }: CampaignChange,
    apply: EntityChange<Campaign>,
  ): Promise<Campaign | undefined> {
    if (status !== 'published' && status !== 'archived') return this.campaigns.update(workspaceId, id, apply);
    return this.unitOfWork.run(async ({ campaigns, events }) => {
      const current = requireFound(await campaigns.findById(workspaceId, id), 'campaign');
      const isChanged = apply(current).status !== current.status;
      if (isChanged) await events.add(this.newEvent(workspaceId, `campaign.${status}`, { campaignId: id }));
      return campaigns.update(workspaceId, id, apply);
    });
  }

  /**
   * Returns the IDs of the campaigns that the member has shared, or `undefined` if the actor has no member. Shares are
   * read after the campaigns. The shares of a campaign are numbered from 1 (`position`). A share with a position above
   * `shares` was added after the campaign was read. It is ignored, so that `hasShared` and `shares` agree.
   */
  private async findSharedIds(
    { workspaceId, member }: Actor,
    campaigns: readonly CampaignSummary[],
  ): Promise<ReadonlySet<string> | undefined> {
    if (!member) return undefined;
    const sharedCampaigns = campaigns.filter(({ shares }) => shares > 0);
    if (sharedCampaigns.length === 0) return new Set();
    const ids = sharedCampaigns.map(({ id }) => id);
    const positions = await this.campaigns.findSharePositions(workspaceId, member.id, ids);
    const isShared = ({ id, shares }: CampaignSummary) => (positions.get(id) ?? Number.POSITIVE_INFINITY) <= shares;
    return new Set(sharedCampaigns.filter(isShared).map(({ id }) => id));
  }
}

/**
 * Returns the view of a campaign. `sharedIds` are the IDs of the campaigns that the actor's member has shared, or
 * `undefined` if the actor has no member.
 */
function toView<C extends CampaignSummary>(
  campaign: C,
  sharedIds: ReadonlySet<string> | undefined,
): C & Pick<CampaignView, 'hasShared'> {
  return sharedIds ? { ...campaign, hasShared: sharedIds.has(campaign.id) } : campaign;
}
