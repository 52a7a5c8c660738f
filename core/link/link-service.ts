import type { Domain } from '../domain/domain.ts';
import { CoreError } from '../shared/core-error.ts';
import { DAY_MS, formatTimestamp } from '../shared/date.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { ClickCounter } from './click-counter.ts';
import { getTargetType, isUsable, type Link, type LinkCampaign, type LinkTarget } from './link.ts';

/** The host of a request for a link, or of a URL that a link leads to. */
export interface LinkHost {
  /** The host name in ASCII and in lower case, without a trailing dot. Can be an IP address. */
  readonly name: string;
  /** The name, if it can be a custom domain: a normalized slug. */
  readonly slug: string | undefined;
  /** Whether it is the host of `LinkOptions.baseUrl`. */
  readonly isBase: boolean;
}

/** A URL that a link can lead to. */
export interface LinkUrl {
  /** The URL as a URI (RFC 3986). */
  readonly uri: string;
  readonly host: LinkHost;
}

/** The records that decide where a request leads. */
export interface LinkLookups {
  findLink(key: string): MaybePromise<Link>;
  findCampaign(workspaceId: string, campaignId: string): MaybePromise<LinkCampaign>;
  /** Finds the domain with a slug, in any workspace, if it is verified and live. */
  findDomain(slug: string): MaybePromise<Domain>;
}

type MaybePromise<T> = T | undefined | Promise<T | undefined>;

/** The use cases for people who open short links. */
export class LinkService implements LinkLookups {
  private readonly counter: ClickCounter;
  private currentVisitorKey: { readonly dayNumber: number; readonly key: Promise<string> } | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {
    this.counter = new ClickCounter(storage, system);
  }

  /**
   * Returns where a request leads. `key` is `undefined` if the path of the request cannot be a link. `lookups` can be
   * cached lookups of this service. Rejects if a lookup rejects.
   */
  async resolve(
    host: LinkHost,
    key: string | undefined,
    parseUrl: (url: string) => LinkUrl,
    lookups: LinkLookups = this,
  ): Promise<LinkTarget> {
    const { type, url, link } = await this.findTarget(host, key, lookups);
    if (!url) return { type };
    const target = parseUrl(url);
    const isOwnHost =
      target.host.isBase ||
      target.host.name === host.name ||
      (target.host.slug !== undefined && (await lookups.findDomain(target.host.slug)) !== undefined);
    // A redirect to this server could lead to another one, and so on without end.
    return isOwnHost ? { type } : { type, uri: target.uri, link };
  }

  private async findTarget(
    host: LinkHost,
    key: string | undefined,
    lookups: LinkLookups,
  ): Promise<{ type: LinkTarget['type']; url?: string | null | undefined; link?: Link }> {
    const link = key === undefined ? undefined : await lookups.findLink(key);
    const campaign = link && (await lookups.findCampaign(link.workspaceId, link.campaignId));
    if (campaign && (host.isBase || (campaign.domain !== undefined && campaign.domain.slug === host.slug))) {
      const type = getTargetType(campaign, this.system.now());
      if (type === 'destination') return { type, url: campaign.destinationUrl, link };
      if (type === 'expired') return { type, url: campaign.domain?.expiredUrl };
    }
    const domain = host.slug === undefined ? undefined : await lookups.findDomain(host.slug);
    return { type: 'unknown', url: domain?.notFoundUrl };
  }

  findLink(key: string): Promise<Link | undefined> {
    return this.storage.links.findByKey(key);
  }

  async findCampaign(workspaceId: string, campaignId: string): Promise<LinkCampaign | undefined> {
    const { campaigns, domains } = this.storage;
    const campaign = await campaigns.findById(workspaceId, campaignId);
    if (!campaign) return undefined;
    const { status, destinationUrl, startsAt, endsAt } = campaign;
    const [domain] = campaign.domain === null ? [] : await domains.findBySlugs(workspaceId, [campaign.domain]);
    return { status, destinationUrl, startsAt, endsAt, domain: isUsable(domain) ? domain : undefined };
  }

  async findDomain(slug: string): Promise<Domain | undefined> {
    const { domains, verifiedSlugs } = this.storage;
    const verified = await verifiedSlugs.find(slug);
    const domain = verified && (await domains.findById(verified.workspaceId, verified.domainId));
    return isUsable(domain) ? domain : undefined;
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
   * Returns the visitor key of the current day (UTC). All processes that use the storage have the same key. Before the
   * key of a day is added, the keys of all other days are removed. Without the key, the hash of a visitor tells nothing
   * about the visitor.
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

  private async findOrAddVisitorKey(day: string): Promise<string> {
    const { visitorKeys } = this.storage;
    const found = await visitorKeys.findByDay(day);
    if (found !== undefined) return found;
    // Removed before the new key is added: if the removal fails, the next call tries again. Keys of later days are
    // removed, too: they were added while the clock was wrong.
    await visitorKeys.removeOthers(day);
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
