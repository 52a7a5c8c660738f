import type { Actor } from '../access/caller.ts';
import type { MemberRepository } from '../access/member.ts';
import { addAll, type BatchResult, isRejected } from '../shared/batch.ts';
import { type FieldError, invalidFields, requireFound } from '../shared/core-error.ts';
import { endOf, startOf, timestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import { memoize } from '../shared/memo.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition } from '../shared/record-store.ts';
import type { System } from '../shared/system.ts';
import { fold, searchText } from '../shared/text.ts';
import {
  CAMPAIGN_SUMMARY_FIELDS,
  type Campaign,
  type CampaignRepository,
  type CampaignSort,
  type CampaignStatus,
  type CampaignSummary,
  type CampaignWindow,
  END_BEFORE_START,
  type NewCampaign,
  requirePublished,
  type ShareRepository,
  shareId,
  sortFields,
  windowConditions,
  withStatus,
} from './campaign.ts';
import { campaignReferenceErrors, knownReferences, type ReferencedStorage } from './campaign-references.ts';

export interface CampaignQuery extends PageRequest {
  /** In a slug's normal form; `null` for what has none, which matches nothing. */
  readonly domain?: string | null | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly tagNames?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly includeArchived: boolean;
  readonly filter?: CampaignWindow | undefined;
  readonly search?: string | undefined;
  readonly sortBy: CampaignSort;
}

/** `hasShared` is there when a member looks: whether that member has shared the campaign. */
export type CampaignView = CampaignSummary & { readonly hasShared?: boolean };

export interface CampaignStorage extends ReferencedStorage {
  readonly campaigns: CampaignRepository;
  readonly shares: ShareRepository;
  readonly members: MemberRepository;
  runInTransaction<T>(work: (storage: CampaignStorage) => Promise<T>): Promise<T>;
}

export class CampaignService {
  constructor(
    private readonly storage: CampaignStorage,
    private readonly system: System,
  ) {}

  /** Refuses with `invalid` an end before its start, and references to what the workspace does not have. */
  async create(actor: Actor, fields: NewCampaign): Promise<Campaign & CampaignView> {
    const [campaign] = (await this.checkMany(actor, [fields])) as [BatchResult<Campaign>];
    if (isRejected(campaign)) throw campaign;
    await this.storage.campaigns.add(campaign);
    return actor.member ? { hasShared: false, ...campaign } : campaign;
  }

  /** What `createMany` would make of a batch, which it refuses as `create` does one by one. */
  async checkMany(
    { workspaceId, member }: Actor,
    batch: readonly NewCampaign[],
  ): Promise<readonly BatchResult<Campaign>[]> {
    const known = await knownReferences(this.storage, workspaceId, batch);
    return batch.map((fields) => {
      const moments = momentsOf(fields);
      if ('fault' in moments) return invalidFields([moments.fault]);
      const faults = campaignReferenceErrors(fields, known);
      return faults.length > 0
        ? invalidFields(faults)
        : this.newCampaign(workspaceId, member?.id ?? null, fields, moments);
    });
  }

  /** Creates a batch. With `ids`, it can be retried (batch.ts). */
  async createMany(
    actor: Actor,
    batch: readonly NewCampaign[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<Campaign>[]> {
    return addAll(this.storage.campaigns, actor.workspaceId, await this.checkMany(actor, batch), ids);
  }

  async get(actor: Actor, id: string): Promise<CampaignView> {
    const campaign = requireFound(
      await this.storage.campaigns.get(actor.workspaceId, id, CAMPAIGN_SUMMARY_FIELDS),
      'campaign',
    );
    return toView(campaign, await this.findSharedIds(actor, [campaign]));
  }

  async list(actor: Actor, query: CampaignQuery): Promise<Page<CampaignView>> {
    const { domain, tagIds, tagNames, userId, includeArchived, filter, search, sortBy, ...page } = query;
    const where: Condition<Campaign>[] = filter ? windowConditions[filter](this.system.now()) : [];
    where.push({ field: 'archived', in: includeArchived ? [false, true] : [false] });
    if (domain !== undefined) where.push({ field: 'domain', in: domain === null ? [] : [domain] });
    if (tagIds) where.push({ field: 'tagIds', in: tagIds });
    if (tagNames) where.push({ field: 'tagIds', in: await this.findTagIds(actor.workspaceId, tagNames) });
    if (userId) where.push({ field: 'createdBy', is: userId });
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    const listing = { where, by: sortFields[sortBy], order: 'desc', fields: CAMPAIGN_SUMMARY_FIELDS } as const;
    const { items, hasNext } = await readPage(this.storage.campaigns, actor.workspaceId, listing, page);
    const shared = await this.findSharedIds(actor, items);
    return { items: items.map((campaign) => toView(campaign, shared)), hasNext };
  }

  /** Every campaign, also an archived one, in the order of their making. */
  iterate(workspaceId: string): AsyncIterable<Campaign> {
    return iterateById((after, take) => this.storage.campaigns.listById(workspaceId, after, take));
  }

  /** Refuses with `conflict` a status that the campaign's own does not lead to. */
  async setStatus(workspaceId: string, id: string, status: CampaignStatus): Promise<Campaign> {
    const now = this.system.now();
    const change = (campaign: Campaign): Campaign => withStatus(campaign, status, now);
    return requireFound(await this.storage.campaigns.update(workspaceId, id, change), 'campaign');
  }

  /** Counts a member's share of a published campaign, once: the counter and the shares never disagree. */
  async recordShare(workspaceId: string, campaignId: string, memberId: string): Promise<Campaign> {
    requireFound(await this.storage.members.get(workspaceId, memberId), 'member');
    return this.storage.runInTransaction(async ({ campaigns, shares }) => {
      const campaign = requireFound(await campaigns.get(workspaceId, campaignId), 'campaign');
      requirePublished(campaign);
      const id = shareId(memberId, campaignId);
      if (await shares.get(workspaceId, id)) return campaign;
      const count = (now: Campaign): Campaign => ({ ...now, shares: now.shares + 1 });
      const counted = requireFound(await campaigns.update(workspaceId, campaignId, count), 'campaign');
      const createdAt = timestamp(this.system.now());
      await shares.add({ id, workspaceId, campaignId, memberId, position: counted.shares, createdAt });
      return counted;
    });
  }

  /** Adds clicks to a published campaign. */
  async recordClicks(workspaceId: string, id: string, count: number): Promise<Campaign> {
    const click = (campaign: Campaign): Campaign => {
      requirePublished(campaign);
      return { ...campaign, clicks: campaign.clicks + count };
    };
    return requireFound(await this.storage.campaigns.update(workspaceId, id, click), 'campaign');
  }

  private newCampaign(workspaceId: string, createdBy: string | null, fields: NewCampaign, moments: Moments): Campaign {
    const { domain = null, image = null, targetShares = null, contentPillarId = null, ...others } = fields;
    const { tagIds = [], groupIds = [], resources = [], ...given } = others;
    const now = timestamp(this.system.now());
    // What is spread comes last: V8 gives each of many objects a shape of its own where named fields follow it.
    return {
      id: this.system.newId(),
      workspaceId,
      createdBy,
      archived: fields.status === 'archived',
      ...moments,
      domain,
      image,
      tagIds,
      groupIds,
      resources,
      targetShares,
      contentPillarId,
      clicks: 0,
      shares: 0,
      searchText: searchText(fields.name, fields.description),
      createdAt: now,
      updatedAt: now,
      ...given,
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
   * Returns which of the campaigns the member had shared when the campaigns were read, so that `hasShared` and `shares`
   * agree. Returns `undefined` if the actor is not a member. Shares are read after the campaigns, and those that were
   * counted in between are ignored.
   */
  private async findSharedIds(
    { workspaceId, member }: Actor,
    campaigns: readonly CampaignSummary[],
  ): Promise<ReadonlySet<string> | undefined> {
    if (!member) return undefined;
    const shared = campaigns.filter(({ shares }) => shares > 0);
    if (shared.length === 0) return NONE_SHARED;
    const ids = shared.map(({ id }) => shareId(member.id, id));
    const shares = await this.storage.shares.getMany(workspaceId, ids, ['position']);
    const positions = new Map(shares.map(({ id, position = 0 }) => [id, position]));
    const isShared = ({ id, shares }: CampaignSummary) =>
      (positions.get(shareId(member.id, id)) ?? Number.POSITIVE_INFINITY) <= shares;
    return new Set(shared.filter(isShared).map(({ id }) => id));
  }
}

const NONE_SHARED: ReadonlySet<string> = new Set();

function toView(campaign: CampaignSummary, shared: ReadonlySet<string> | undefined): CampaignView {
  if (!shared) return campaign;
  return (shared.has(campaign.id) ? asShared : asUnshared)(campaign);
}

const asShared = memoize((campaign: CampaignSummary): CampaignView => ({ hasShared: true, ...campaign }));
const asUnshared = memoize((campaign: CampaignSummary): CampaignView => ({ hasShared: false, ...campaign }));

/** The moments that the dates of a campaign mean. */
type Moments = Pick<Campaign, 'startsAt' | 'endsAt'>;

function momentsOf({ startDate, endDate }: NewCampaign): Moments | { readonly fault: FieldError } {
  const startsAt = startOf(startDate);
  const endsAt = endOf(endDate);
  if (startsAt === undefined) return { fault: { path: 'startDate', problem: 'must be a date' } };
  if (endsAt === undefined) return { fault: { path: 'endDate', problem: 'must be a date' } };
  return endsAt < startsAt ? { fault: END_BEFORE_START } : { startsAt, endsAt };
}
