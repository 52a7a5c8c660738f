import type { Domain } from '../domain/domain.ts';
import type { DomainRepository } from '../domain/domain-repository.ts';
import type { VerifiedSlugRepository } from '../domain/verified-slug-repository.ts';
import { CoreError } from '../shared/core-error.ts';
import { DAY_MS, formatDay } from '../shared/date.ts';
import type { Clock, System } from '../shared/system.ts';
import { getTargetType, isUsable, type Link, type LinkCampaign, type LinkTarget } from './link.ts';
import type { LinkRepository } from './link-repository.ts';
import type { VisitorKeyRepository } from './visitor-key-repository.ts';

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

/** A campaign with its domain, if the domain is live and verified. */
type CampaignWithDomain = Omit<LinkCampaign, 'domain'> & { readonly domain: Domain | undefined };

/** The lookups of the records that determine the target of a request. */
export interface LinkLookups {
  findLink(key: string): MaybePromise<Link>;
  findCampaign(workspaceId: string, campaignId: string): MaybePromise<CampaignWithDomain>;
  /** Finds the domain with a slug, in any workspace, if it is verified and live. */
  findDomain(slug: string): MaybePromise<Domain>;
}

type MaybePromise<T> = T | undefined | Promise<T | undefined>;

/** The number of random characters of a visitor key. */
const VISITOR_KEY_LENGTH = 32;

/** The use cases for people who open short links. */
export class LinkService implements LinkLookups {
  constructor(
    private readonly links: LinkRepository,
    private readonly domains: DomainRepository,
    private readonly verifiedSlugs: VerifiedSlugRepository,
    private readonly visitorKeys: VisitorKeyRepository,
    private readonly system: Pick<System, 'now' | 'newRandomText'>,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
  ) {}

  /**
   * Returns the target of a request. `key` is `undefined` if the path of the request cannot be a link. `lookups` can be
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
    return this.links.findByKey(key);
  }

  async findCampaign(workspaceId: string, campaignId: string): Promise<CampaignWithDomain | undefined> {
    const campaign = await this.links.findCampaign(workspaceId, campaignId);
    if (!campaign) return undefined;
    const [domain] = campaign.domain === null ? [] : await this.domains.findBySlugs(workspaceId, [campaign.domain]);
    return { ...campaign, domain: isUsable(domain) ? domain : undefined };
  }

  async findDomain(slug: string): Promise<Domain | undefined> {
    const verified = await this.verifiedSlugs.find(slug);
    const domain = verified && (await this.domains.findById(verified.workspaceId, verified.domainId));
    return isUsable(domain) ? domain : undefined;
  }

  /**
   * Returns the visitor key of the current day (UTC), and the time until this day ends. All processes that use the
   * storage have the same key. Before the key of a day is added, the keys of all other days are removed. Without the
   * key, the hash of a visitor reveals nothing about the visitor.
   */
  async getVisitorKey(): Promise<{ readonly key: string; readonly remainingMs: number }> {
    const now = this.storageClock.now();
    const key = await this.findOrAddVisitorKey(formatDay(now));
    return { key, remainingMs: DAY_MS - (now % DAY_MS) };
  }

  private async findOrAddVisitorKey(day: string): Promise<string> {
    const found = await this.visitorKeys.findByDay(day);
    if (found !== undefined) return found;
    // Remove the other keys before the new key is added: if the removal fails, the next call retries it. Also remove
    // keys of later days, which were added while the clock was wrong.
    await this.visitorKeys.removeOthers(day);
    const key = this.system.newRandomText(VISITOR_KEY_LENGTH);
    try {
      await this.visitorKeys.add(day, key);
    } catch (error) {
      const other = error instanceof CoreError ? await this.visitorKeys.findByDay(day) : undefined;
      if (other === undefined) throw error;
      return other;
    }
    return key;
  }
}
