import type { Domain } from '../domain/domain.ts';
import { CoreError } from '../shared/core-error.ts';
import { DAY_MS, formatTimestamp } from '../shared/date.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { ClickCounter } from './click-counter.ts';
import { getTargetType, isUsable, type Link, type LinkCampaign, type LinkTarget } from './link.ts';
import { LookupCache } from './lookup-cache.ts';

/** The host of a request. */
export interface LinkHost {
  /** The host, normalized as a slug, or `undefined` if it cannot be a custom domain. */
  readonly slug: string | undefined;
  /** Whether it is the host of `LinkOptions.baseUrl`. */
  readonly isBase: boolean;
}

/** The use cases for people who open short links. Changes of campaigns and domains take effect within five seconds, because both are cached. */
export class LinkService {
  private readonly links: LookupCache<Link>;
  /** The campaigns by the texts that `createCampaignKey` returns. Many links lead to the same campaign. */
  private readonly campaigns: LookupCache<LinkCampaign>;
  private readonly domains: LookupCache<Domain>;
  private readonly counter: ClickCounter;
  private currentVisitorKey: { readonly dayNumber: number; readonly key: Promise<string> } | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {
    this.links = new LookupCache((key) => storage.links.findByKey(key), system.monotonicNow, { isImmutable: true });
    this.campaigns = new LookupCache((key) => this.findCampaign(key), system.monotonicNow);
    this.domains = new LookupCache((slug) => this.findDomain(slug), system.monotonicNow);
    this.counter = new ClickCounter(storage, system);
  }

  /**
   * Returns where a request leads. `key` is `undefined` if the path of the request cannot be a link. If something is not cached, rejects
   * when the storage is unavailable or too many lookups wait for the storage.
   */
  async resolve(host: LinkHost, key: string | undefined): Promise<LinkTarget> {
    const link = key === undefined ? undefined : await this.links.get(key);
    const campaign = link && (await this.campaigns.get(createCampaignKey(link)));
    if (campaign && (host.isBase || (campaign.domain !== undefined && campaign.domain.slug === host.slug))) {
      const type = getTargetType(campaign, this.system.now());
      if (type === 'destination') return { type, url: campaign.destinationUrl as string, link };
      if (type === 'expired') return { type, url: campaign.domain?.expiredUrl || undefined };
    }
    const domain = host.slug === undefined ? undefined : await this.domains.get(host.slug);
    return { type: 'unknown', url: domain?.notFoundUrl || undefined };
  }

  /** Counts a click on a link. Drops the click and returns `false` if clicks on too many links still wait to be stored. */
  countClick(link: Link): boolean {
    return this.counter.add(link);
  }

  /** The number of clicks that are counted but not stored yet. */
  get pendingClickCount(): number {
    return this.counter.pendingCount;
  }

  /** Stores all counted clicks. Rejects if that fails for some clicks, and keeps these clicks for the next call. */
  storeClicks(): Promise<void> {
    return this.counter.flush();
  }

  /**
   * Returns the visitor key of the current day (UTC). All processes that use the storage have the same key. Before the key of a
   * day is added, the keys of earlier days are removed. Without the key, the hash of a visitor tells nothing about the visitor.
   */
  async getVisitorKey(): Promise<string> {
    const now = this.storage.now();
    const dayNumber = Math.floor(now / DAY_MS);
    if (this.currentVisitorKey?.dayNumber !== dayNumber) {
      const key = this.findOrAddVisitorKey(formatTimestamp(now).slice(0, 'YYYY-MM-DD'.length));
      this.currentVisitorKey = { dayNumber, key };
      key.catch(() => (this.currentVisitorKey = undefined));
    }
    return this.currentVisitorKey.key;
  }

  private async findCampaign(key: string): Promise<LinkCampaign | undefined> {
    const { campaigns, domains } = this.storage;
    const [workspaceId, campaignId] = key.split(' ') as [string, string];
    const campaign = await campaigns.findById(workspaceId, campaignId);
    if (!campaign) return undefined;
    const { status, destinationUrl, startsAt, endsAt } = campaign;
    const [domain] = campaign.domain === null ? [] : await domains.findBySlugs(workspaceId, [campaign.domain]);
    return { status, destinationUrl, startsAt, endsAt, domain: isUsable(domain) ? domain : undefined };
  }

  private async findDomain(slug: string): Promise<Domain | undefined> {
    const { domains, verifiedSlugs } = this.storage;
    const verified = await verifiedSlugs.find(slug);
    const domain = verified && (await domains.findById(verified.workspaceId, verified.domainId));
    return isUsable(domain) ? domain : undefined;
  }

  private async findOrAddVisitorKey(day: string): Promise<string> {
    const { visitorKeys } = this.storage;
    const found = await visitorKeys.findByDay(day);
    if (found !== undefined) return found;
    // Removed before the new key is added: if the removal fails, the next call tries again.
    await visitorKeys.removeBefore(day);
    const key = this.system.newSecret();
    try {
      await visitorKeys.add(day, key);
    } catch (error) {
      const other = error instanceof CoreError ? await visitorKeys.findByDay(day) : undefined;
      if (other === undefined) throw error;
      return other;
    }
    return key;
  }
}

function createCampaignKey({ workspaceId, campaignId }: Link): string {
  return `${workspaceId} ${campaignId}`;
}
