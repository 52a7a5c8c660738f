import { newActivity } from '../activity/activity.ts';
import { type Campaign, type CampaignStatus, requireRunning } from '../campaign/campaign.ts';
import type { CampaignRepository } from '../campaign/campaign-repository.ts';
import { computeReward, exhaustsBudget, payReward } from '../campaign/reward.ts';
import type { DomainRepository } from '../domain/domain-repository.ts';
import type { EventFactory } from '../event/event.ts';
import { getLinkBase, LINK_KEY_LENGTH, type Link, type LinkOptions } from '../link/link.ts';
import type { LinkRepository } from '../link/link-repository.ts';
import type { Member } from '../member/member.ts';
import type { MemberRepository } from '../member/member-repository.ts';
import type { MemberActor } from '../shared/actor.ts';
import { formatUnits } from '../shared/amount.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { indexById } from '../shared/entity.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Clock, System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import type { ClickBatch } from './click-checkpoint.ts';
import { type ClickRepositories, countClicks } from './count-clicks.ts';
import { createShareId, newShare, type Share } from './share.ts';
import type { ShareFilter, ShareRepository } from './share-repository.ts';

/**
 * A share with the name of its member and its short link. `link` is `null` if short links are off, if the campaign has
 * no destination, or if its links have no host (`getLinkBase`).
 */
export type ShareView = Omit<Share, 'linkKey'> & { readonly memberName: string; readonly link: string | null };

export type ShareQuery = Omit<ShareFilter, 'campaignId'> & PageRequest;

/** A share with the name and the status of its campaign. */
export type MemberShareView = ShareView & { readonly campaignName: string; readonly campaignStatus: CampaignStatus };

interface AddedShare {
  readonly campaign: Campaign;
  readonly share: Share;
  readonly isNew: boolean;
}

type ShareRepositories = ClickRepositories & { readonly links: LinkRepository };

export class ShareService {
  constructor(
    private readonly campaigns: CampaignRepository,
    private readonly shares: ShareRepository,
    private readonly members: MemberRepository,
    private readonly domains: DomainRepository,
    private readonly unitOfWork: UnitOfWork<ShareRepositories>,
    private readonly system: Pick<System, 'now' | 'newRandomText'>,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
    private readonly newEvent: EventFactory,
    /**
     * The options of short links. Without them, the `link` of each view is `null`. Each new share gets a stored link
     * nevertheless.
     */
    private readonly linkOptions: LinkOptions | undefined,
  ) {}

  /**
   * Shares a running campaign as the actor's member. If the member has already shared the campaign, returns that share,
   * even if the campaign is not running. `isNew` says whether this call added the share. Rejects with `conflict` if a
   * new share is not allowed because the campaign is not running (`requireRunning`).
   */
  async create(
    { workspaceId, member }: MemberActor,
    campaignId: string,
  ): Promise<{ share: ShareView; isNew: boolean }> {
    const { campaign, share, isNew } = await this.add(workspaceId, campaignId, member.id);
    const [view] = await this.toViews([campaign], [share], [member]);
    return { share: view as ShareView, isNew };
  }

  async list(workspaceId: string, campaignId: string, query: ShareQuery): Promise<Page<ShareView>> {
    const campaign = requireFound(await this.campaigns.findById(workspaceId, campaignId), 'campaign');
    const { items, hasNext } = await this.shares.findPage(workspaceId, { ...query, campaignId }, query);
    const memberIds = items.map(({ memberId }) => memberId);
    const sharers = await this.members.findMany(workspaceId, memberIds);
    return { items: await this.toViews([campaign], items, sharers), hasNext };
  }

  /** Returns a page of the shares of the actor's member, over all campaigns. */
  async listOfMember(
    { workspaceId, member }: MemberActor,
    query: Omit<ShareQuery, 'memberId'>,
  ): Promise<Page<MemberShareView>> {
    const { items, hasNext } = await this.shares.findPage(workspaceId, { ...query, memberId: member.id }, query);
    const campaignIds = items.map(({ campaignId }) => campaignId);
    const campaigns = await this.campaigns.findMany(workspaceId, campaignIds);
    const byId = indexById(campaigns);
    const views = await this.toViews(campaigns, items, [member]);
    const toView = (view: ShareView): MemberShareView => {
      const { name, status } = requireFound(byId.get(view.campaignId), 'campaign');
      return { ...view, campaignName: name, campaignStatus: status };
    };
    return { items: views.map(toView), hasNext };
  }

  /**
   * Adds a batch of clicks and their rewards to shares and campaigns. Does nothing if this batch or a later one of the
   * same process is stored already. So a batch whose outcome is unknown can be sent again.
   */
  addClicks(batch: ClickBatch): Promise<void> {
    return this.unitOfWork.run((repositories) =>
      countClicks(repositories, batch, this.newEvent, this.storageClock.now()),
    );
  }

  /**
   * Adds the share of a member and its reward, unless the share exists. One transaction adds and counts it, so that the
   * shares, their count and their rewards always agree. It begins with the event, so that a storage can queue the
   * transactions of the workspace.
   */
  private async add(workspaceId: string, campaignId: string, memberId: string): Promise<AddedShare> {
    const existing = await this.findExisting(workspaceId, campaignId, memberId);
    if (existing) return existing;
    const work = async ({ activity, campaigns, events, links, members, shares }: ShareRepositories) => {
      await events.add(this.newEvent(workspaceId, 'share.created', { campaignId, memberId }));
      // A simultaneous request can have added the share while this one waited to number the event.
      const id = createShareId(memberId, campaignId);
      if (await shares.findById(workspaceId, id))
        throw new CoreError('conflict', 'The campaign was shared already. Repeat the request.');
      // A server accepts the key of a deleted member for some seconds.
      const isMember = (await members.findById(workspaceId, memberId)) !== undefined;
      const now = this.system.now();
      // If a storage calls `count` again, the last call decides.
      let earned = 0n;
      const count = (current: Campaign) => {
        earned = isMember ? computeReward(current, { rewards: '0' }, { type: 'share' }) : 0n;
        return payReward(countShare(current, now), earned);
      };
      const campaign = requireFound(await campaigns.update(workspaceId, campaignId, count), 'campaign');
      if (exhaustsBudget(campaign, earned))
        await events.add(this.newEvent(workspaceId, 'campaign.budget_exhausted', { campaignId }));
      const linkKey = await this.addLink(links, { workspaceId, campaignId, memberId });
      const rewards = formatUnits(earned);
      const share = newShare(campaign, memberId, { linkKey, rewards }, now);
      await shares.add(share);
      const counts = { shares: 1, clicks: 0, rewards };
      await activity.add(newActivity(share, counts, this.storageClock.now()));
      return { campaign, share, isNew: true };
    };
    return this.unitOfWork.run(work).catch(async (error) => {
      // If the ID of the share is taken, a simultaneous request has added it.
      const isConflict = error instanceof CoreError && error.kind === 'conflict';
      const added = isConflict ? await this.findExisting(workspaceId, campaignId, memberId) : undefined;
      if (!added) throw error;
      return added;
    });
  }

  private async findExisting(
    workspaceId: string,
    campaignId: string,
    memberId: string,
  ): Promise<AddedShare | undefined> {
    const id = createShareId(memberId, campaignId);
    if (!(await this.shares.findById(workspaceId, id))) return undefined;
    // An update ensures that the share is durable, even if it changes nothing.
    const share = requireFound(await this.shares.update(workspaceId, id, (it) => it), 'share');
    return {
      campaign: requireFound(await this.campaigns.findById(workspaceId, campaignId), 'campaign'),
      share,
      isNew: false,
    };
  }

  /** Adds the link of a share, and returns its random key. If the key is taken, tries another one. */
  private async addLink(links: LinkRepository, share: Omit<Link, 'key'>): Promise<string> {
    const link = { key: this.system.newRandomText(LINK_KEY_LENGTH), ...share };
    try {
      await links.add(link);
      return link.key;
    } catch (error) {
      if (error instanceof CoreError && error.kind === 'conflict') return this.addLink(links, share);
      throw error;
    }
  }

  private async toViews(
    campaigns: readonly Campaign[],
    shares: readonly Share[],
    members: readonly Pick<Member, 'id' | 'name'>[],
  ): Promise<readonly ShareView[]> {
    const sharers = indexById(members);
    const bases = await this.findLinkBases(campaigns);
    return shares.map(({ linkKey, ...share }) => {
      const base = bases.get(share.campaignId);
      const link = base === undefined ? null : `${base}/${linkKey}`;
      return { ...share, memberName: sharers.get(share.memberId)?.name ?? '', link };
    });
  }

  /** Returns the base URLs of the short links of campaigns, by campaign ID. Campaigns without links are missing. */
  private async findLinkBases(campaigns: readonly Campaign[]): Promise<ReadonlyMap<string, string>> {
    const bases = new Map<string, string>();
    const { linkOptions } = this;
    const [first] = campaigns;
    if (!linkOptions || !first) return bases;
    const slugs = new Set(campaigns.flatMap(({ domain }) => domain ?? []));
    const domains = slugs.size === 0 ? [] : await this.domains.findBySlugs(first.workspaceId, [...slugs]);
    for (const { id, domain: slug, destinationUrl } of campaigns) {
      const domain = domains.find((one) => one.slug === slug);
      const base = destinationUrl === null ? undefined : getLinkBase(domain, linkOptions);
      if (base !== undefined) bases.set(id, base);
    }
    return bases;
  }
}

function countShare(campaign: Campaign, now: number): Campaign {
  requireRunning(campaign, now);
  return { ...campaign, shares: campaign.shares + 1 };
}
