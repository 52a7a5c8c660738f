import { type Campaign, requirePublished } from '../campaign/campaign.ts';
import { getLinkBase, type Link, type LinkOptions, newLink } from '../link/link.ts';
import type { LinkRepository } from '../link/link-repository.ts';
import type { Member } from '../member/member.ts';
import type { MemberActor } from '../shared/actor.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { createShareId, newShare, type Share } from './share.ts';
import type { ShareFilter } from './share-repository.ts';

/**
 * A share with the name of its member and its short link. `link` is `null` if short links are off, if the campaign has
 * no destination, or if its links have no host (`getLinkBase`).
 */
export type ShareView = Omit<Share, 'linkKey'> & { readonly memberName: string; readonly link: string | null };

export type ShareQuery = Omit<ShareFilter, 'campaignId'> & PageRequest;

interface AddedShare {
  readonly campaign: Campaign;
  readonly share: Share;
  readonly isNew: boolean;
}

export class ShareService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
    /**
     * The options of short links. Without them, the `link` of each view is `null`. Each new share gets a stored link
     * nevertheless.
     */
    private readonly links: LinkOptions | undefined,
  ) {}

  /**
   * Shares a published campaign as the actor's member. If the member has already shared the campaign, returns that
   * share, even if the campaign is not published. `isNew` says whether this call added the share. Rejects with
   * `conflict` if a new share is not allowed because the campaign is not published.
   */
  async create(
    { workspaceId, member }: MemberActor,
    campaignId: string,
  ): Promise<{ share: ShareView; isNew: boolean }> {
    const { campaign, share, isNew } = await this.add(workspaceId, campaignId, member.id);
    const [view] = await this.toViews(campaign, [share], [member]);
    return { share: view as ShareView, isNew };
  }

  /** Adds the share of a member, on behalf of that member, as `create` does. Returns the campaign. */
  async createForMember(workspaceId: string, campaignId: string, memberId: string): Promise<Campaign> {
    requireFound(await this.storage.members.findById(workspaceId, memberId), 'member');
    return (await this.add(workspaceId, campaignId, memberId)).campaign;
  }

  async list(workspaceId: string, campaignId: string, query: ShareQuery): Promise<Page<ShareView>> {
    const { campaigns, shares, members } = this.storage;
    const campaign = requireFound(await campaigns.findById(workspaceId, campaignId), 'campaign');
    const { items, hasNext } = await shares.findPage(workspaceId, { ...query, campaignId }, query);
    const memberIds = items.map(({ memberId }) => memberId);
    const sharers = await members.findMany(workspaceId, memberIds);
    return { items: await this.toViews(campaign, items, sharers), hasNext };
  }

  /**
   * Adds the share of a member, unless it exists. One transaction adds and counts it, so that the shares and their
   * count always agree. It begins with the update of the campaign, so that a storage can queue the transactions that
   * share the same campaign.
   */
  private async add(workspaceId: string, campaignId: string, memberId: string): Promise<AddedShare> {
    const existing = await this.findExisting(workspaceId, campaignId, memberId);
    if (existing) return existing;
    const work = async ({ campaigns, shares, links }: Storage) => {
      const campaign = requireFound(await campaigns.update(workspaceId, campaignId, countShare), 'campaign');
      const linkKey = await this.addLink(links, { workspaceId, campaignId, memberId });
      const share = newShare(campaign, memberId, linkKey, this.system.now());
      await shares.add(share);
      return { campaign, share, isNew: true };
    };
    return this.storage.runInTransaction(work).catch(async (error) => {
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
    const { campaigns, shares } = this.storage;
    const id = createShareId(memberId, campaignId);
    if (!(await shares.findById(workspaceId, id))) return undefined;
    // An update ensures that the share is durable, even if it changes nothing.
    const share = requireFound(await shares.update(workspaceId, id, (it) => it), 'share');
    return {
      campaign: requireFound(await campaigns.findById(workspaceId, campaignId), 'campaign'),
      share,
      isNew: false,
    };
  }

  /** Adds the link of a share, and returns its random key. If the key is taken, tries another one. */
  private async addLink(links: LinkRepository, share: Omit<Link, 'key'>): Promise<string> {
    const link = newLink(share, this.system.newSecret());
    try {
      await links.add(link);
      return link.key;
    } catch (error) {
      if (error instanceof CoreError && error.kind === 'conflict') return this.addLink(links, share);
      throw error;
    }
  }

  private async toViews(
    campaign: Campaign,
    shares: readonly Share[],
    members: readonly Pick<Member, 'id' | 'name'>[],
  ): Promise<readonly ShareView[]> {
    const sharers = new Map(members.map((member) => [member.id, member]));
    const links = await this.buildLinks(campaign, shares);
    return shares.map(({ linkKey: _, ...share }) => ({
      ...share,
      memberName: sharers.get(share.memberId)?.name ?? '',
      link: links.get(share.id) ?? null,
    }));
  }

  /** Returns the short links of shares of a campaign, by the IDs of the shares. */
  private async buildLinks(
    { workspaceId, domain: slug, destinationUrl }: Campaign,
    shares: readonly Share[],
  ): Promise<ReadonlyMap<string, string>> {
    if (!this.links || destinationUrl === null) return new Map();
    const [domain] = slug === null ? [] : await this.storage.domains.findBySlugs(workspaceId, [slug]);
    const base = getLinkBase(domain, this.links);
    if (base === undefined) return new Map();
    return new Map(shares.map(({ id, linkKey }) => [id, `${base}/${linkKey}`]));
  }
}

function countShare(campaign: Campaign): Campaign {
  requirePublished(campaign);
  return { ...campaign, shares: campaign.shares + 1 };
}
