import type { Domain } from '../domain/domain.ts';
import { createShareId } from '../share/share.ts';
import { CoreError } from '../shared/core-error.ts';
import { DAY_MS, formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import type { ClickBatch } from './click.ts';
import { newClickWriter } from './click-writer.ts';
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
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

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

  /**
   * Adds a batch of clicks to the counters of shares and campaigns. Does nothing if this batch or a later one of the
   * same process is stored already, so a batch whose outcome is unknown can be sent again.
   */
  addClicks({ workspaceId, writerId, sequence, clicks }: ClickBatch): Promise<void> {
    const id = `${writerId}/${workspaceId}`;
    return this.storage.runInTransaction(async ({ clickWriters, campaigns, shares }) => {
      const writer = await clickWriters.findById(workspaceId, id);
      if (writer && writer.sequence >= sequence) return;
      const [byCampaign, byShare] = [new Map<string, number>(), new Map<string, number>()];
      for (const { campaignId, memberId, count } of clicks) {
        byCampaign.set(campaignId, (byCampaign.get(campaignId) ?? 0) + count);
        byShare.set(createShareId(memberId, campaignId), count);
      }
      await campaigns.updateMany(workspaceId, [...byCampaign.keys()], addClicks(byCampaign));
      await shares.updateMany(workspaceId, [...byShare.keys()], addClicks(byShare));
      const next = newClickWriter(workspaceId, id, sequence, this.storage.now());
      if (writer) await clickWriters.update(workspaceId, id, () => next);
      else await clickWriters.add(next);
    });
  }

  /**
   * Returns the visitor key of the current day (UTC), and how long this day lasts. All processes that use the storage
   * have the same key. Before the key of a day is added, the keys of all other days are removed. Without the key, the
   * hash of a visitor reveals nothing about the visitor.
   */
  async getVisitorKey(): Promise<{ readonly key: string; readonly remainingMs: number }> {
    const now = this.storage.now();
    const key = await this.findOrAddVisitorKey(formatTimestamp(now).slice(0, 'YYYY-MM-DD'.length));
    return { key, remainingMs: DAY_MS - (now % DAY_MS) };
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

/** Returns a function that adds the clicks on a campaign or a share to it. `counts` has them by ID. */
function addClicks(counts: ReadonlyMap<string, number>) {
  return <T extends Entity & { readonly clicks: number }>(it: T): T => ({
    ...it,
    clicks: it.clicks + (counts.get(it.id) ?? 0),
  });
}
