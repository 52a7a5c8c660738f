import type { Domain } from '../domain/domain.ts';
import { CoreError } from '../shared/core-error.ts';
import { DAY_MS, formatTimestamp } from '../shared/date.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { ClickCounter } from './click-counter.ts';
import { getLinkState, isUsable, type Link, type LinkCampaign, type LinkTarget, toLinkCampaign } from './link.ts';
import { LinkCache } from './link-cache.ts';

/** The host of a request. */
export interface LinkHost {
  /** The normalized slug that the host is, or `undefined` if it is none. */
  readonly slug: string | undefined;
  /** Whether it is the host of `LinkOptions.baseUrl`. */
  readonly isBase: boolean;
}

/** A link with what decides where it leads. */
interface FoundLink {
  readonly link: Link;
  readonly campaign: LinkCampaign;
  /** The domain of the campaign, if it is live and verified. */
  readonly domain: LinkDomain | undefined;
}

type LinkDomain = Pick<Domain, 'slug' | 'expiredUrl' | 'notFoundUrl'>;

/** The use cases of the people who open short links. What they read may be five seconds old. */
export class LinkService {
  private readonly links: LinkCache<FoundLink>;
  private readonly domains: LinkCache<LinkDomain>;
  private readonly counter: ClickCounter;
  private visitorKey: { readonly dayNumber: number; readonly secret: Promise<string> } | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {
    this.links = new LinkCache((key) => this.findLink(key), system.monotonicNow);
    this.domains = new LinkCache((slug) => this.findDomain(slug), system.monotonicNow);
    this.counter = new ClickCounter(storage, system);
  }

  /**
   * Returns where a request leads, without a promise if that is cached. `key` is `undefined` if the path of the request cannot be a link.
   * Rejects if the storage is unavailable, or if too many requests wait for it.
   */
  resolve(host: LinkHost, key: string | undefined): LinkTarget | Promise<LinkTarget> {
    const found = key === undefined ? undefined : this.links.get(key);
    return found instanceof Promise ? found.then((it) => this.resolveFound(host, it)) : this.resolveFound(host, found);
  }

  private resolveFound(host: LinkHost, found: FoundLink | undefined): LinkTarget | Promise<LinkTarget> {
    if (found && (host.isBase || (found.domain !== undefined && found.domain.slug === host.slug))) {
      const { link, campaign, domain } = found;
      const state = getLinkState(campaign, this.system.now());
      if (state === 'open') return { type: 'destination', url: campaign.destinationUrl as string, link };
      if (state === 'closed') return { type: 'expired', url: domain?.expiredUrl || undefined };
    }
    const domain = host.slug === undefined ? undefined : this.domains.get(host.slug);
    const toTarget = (it?: LinkDomain): LinkTarget => ({ type: 'unknown', url: it?.notFoundUrl || undefined });
    return domain instanceof Promise ? domain.then(toTarget) : toTarget(domain);
  }

  /** Counts a click on a link. Returns `false` if it is dropped, because too many clicks are not stored yet. */
  countClick(link: Link): boolean {
    return this.counter.add(link);
  }

  /** The number of clicks that are counted but not stored yet. */
  get pendingClickCount(): number {
    return this.counter.pendingCount;
  }

  /** Stores all counted clicks. Rejects if that failed. Then the clicks are kept for the next call. */
  storeClicks(): Promise<void> {
    return this.counter.flush();
  }

  /**
   * Returns the secret of the current day (UTC). All processes that use the storage have the same secret, and those of earlier days are
   * removed. So a hash of a visitor with the secret tells nothing about the visitor after the day has ended.
   */
  async getVisitorKey(): Promise<string> {
    const now = this.storage.now();
    const dayNumber = Math.floor(now / DAY_MS);
    if (this.visitorKey?.dayNumber !== dayNumber) {
      const secret = this.findOrAddVisitorKey(formatTimestamp(now).slice(0, 'YYYY-MM-DD'.length));
      this.visitorKey = { dayNumber, secret };
      secret.catch(() => (this.visitorKey = undefined));
    }
    return this.visitorKey.secret;
  }

  private async findLink(key: string): Promise<FoundLink | undefined> {
    const { links, campaigns, domains } = this.storage;
    const link = await links.findByKey(key);
    const campaign = link && (await campaigns.findById(link.workspaceId, link.campaignId));
    if (!campaign) return undefined;
    const [domain] = campaign.domain === null ? [] : await domains.findBySlugs(link.workspaceId, [campaign.domain]);
    return {
      link,
      campaign: toLinkCampaign(campaign),
      domain: isUsable(domain) ? toLinkDomain(domain) : undefined,
    };
  }

  private async findDomain(slug: string): Promise<LinkDomain | undefined> {
    const domain = await this.storage.domains.findClaimed(slug);
    return isUsable(domain) ? toLinkDomain(domain) : undefined;
  }

  private async findOrAddVisitorKey(day: string): Promise<string> {
    const { visitorKeys } = this.storage;
    const found = await visitorKeys.findByDay(day);
    if (found !== undefined) return found;
    const secret = this.system.newSecret();
    try {
      await visitorKeys.add(day, secret);
    } catch (error) {
      const other = error instanceof CoreError ? await visitorKeys.findByDay(day) : undefined;
      if (other === undefined) throw error;
      return other;
    }
    await visitorKeys.removeBefore(day);
    return secret;
  }
}

function toLinkDomain({ slug, expiredUrl, notFoundUrl }: Domain): LinkDomain {
  return { slug, expiredUrl, notFoundUrl };
}
