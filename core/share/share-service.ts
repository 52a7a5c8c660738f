import type { MemberActor } from '../access/caller.ts';
import type { Member } from '../access/member.ts';
import { type Campaign, requirePublished } from '../campaign/campaign.ts';
import { requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { createShareId, newShare, type Share } from './share.ts';
import type { ShareFilter } from './share-repository.ts';

/** A share with the name of its member, and with the short link of the member, or `null` if there is none. */
export type ShareView = Share & { readonly memberName: string; readonly link: string | null };

export type ShareQuery = Omit<ShareFilter, 'campaignId'> & PageRequest;

/** The use cases of shares. */
export class ShareService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  /**
   * Shares a published campaign as the actor's member. If the member has already shared the campaign, returns that share, even if the
   * campaign is not published. `isNew` says whether this call added the share. Rejects with `not_found` if the workspace does not have
   * the campaign, and with `conflict` if a new share is not allowed because the campaign is not published.
   */
  async create(
    { workspaceId, member }: MemberActor,
    campaignId: string,
  ): Promise<{ share: ShareView; isNew: boolean }> {
    const { share, isNew } = await this.add(workspaceId, campaignId, member.id);
    return { share: toShareView(share, member), isNew };
  }

  /** Records that a member shared a campaign, as `create` does. Returns the campaign. */
  async record(workspaceId: string, campaignId: string, memberId: string): Promise<Campaign> {
    requireFound(await this.storage.members.findById(workspaceId, memberId), 'member');
    return (await this.add(workspaceId, campaignId, memberId)).campaign;
  }

  /** Returns a page of the shares of a campaign. Rejects with `not_found` if the workspace does not have the campaign. */
  async list(workspaceId: string, campaignId: string, query: ShareQuery): Promise<Page<ShareView>> {
    const { campaigns, shares, members } = this.storage;
    requireFound(await campaigns.findSummary(workspaceId, campaignId), 'campaign');
    const { items, hasNext } = await shares.page(workspaceId, { ...query, campaignId }, query);
    const memberIds = items.map(({ memberId }) => memberId);
    const sharers = new Map((await members.findMany(workspaceId, memberIds)).map((member) => [member.id, member]));
    return { items: items.map((share) => toShareView(share, sharers.get(share.memberId))), hasNext };
  }

  /** Adds the share of a member, unless it exists. One transaction adds and counts it, so that shares and count always agree. */
  private add(workspaceId: string, campaignId: string, memberId: string) {
    return this.storage.runInTransaction(async ({ campaigns, shares }) => {
      const campaign = requireFound(await campaigns.findById(workspaceId, campaignId), 'campaign');
      const existing = await shares.findById(workspaceId, createShareId(memberId, campaignId));
      if (existing) return { campaign, share: existing, isNew: false };
      requirePublished(campaign);
      const countShare = (current: Campaign): Campaign => ({ ...current, shares: current.shares + 1 });
      const counted = requireFound(await campaigns.update(workspaceId, campaignId, countShare), 'campaign');
      const share = newShare(counted, memberId, this.system.now());
      await shares.add(share);
      return { campaign: counted, share, isNew: true };
    });
  }
}

function toShareView(share: Share, member: Member | undefined): ShareView {
  return { ...share, memberName: member?.name ?? '', link: null };
}
