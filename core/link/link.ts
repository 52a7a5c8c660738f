import type { Domain } from '../domain/domain.ts';
import { BASE62 } from '../shared/base62.ts';

/** A short link: the key in its path, and the share that its clicks count for. */
export interface Link {
  readonly key: string;
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly memberId: string;
}

/** The number of random characters of a key. */
export const LINK_KEY_LENGTH = 8;
const LINK_KEY_PATTERN = new RegExp(`^[${BASE62}]{${LINK_KEY_LENGTH}}$`);

export function isLinkKey(text: string): boolean {
  return LINK_KEY_PATTERN.test(text);
}

/** The options of short links, which the operator chooses. */
export interface LinkOptions {
  /** The base of the links of campaigns without a live, verified domain: an origin such as `https://go.example.com`. */
  readonly baseUrl?: string | undefined;
}

/** Returns whether short links can use a domain. */
export function isUsable(domain: Domain | undefined): domain is Domain {
  return domain?.verified === true && !domain.archived;
}

/**
 * Returns the base of the short links of a campaign, or `undefined` if there is none. `domain` is the domain of the
 * campaign.
 */
export function getLinkBase(domain: Domain | undefined, { baseUrl }: LinkOptions): string | undefined {
  return isUsable(domain) ? `https://${domain.slug}` : baseUrl;
}

/** The fields of a campaign that decide the targets of its links. */
export interface LinkCampaign {
  readonly status: 'draft' | 'published' | 'archived';
  readonly destinationUrl: string | null;
  /** The start and the end of the campaign, in milliseconds since the epoch. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** The slug of the domain of the campaign. */
  readonly domain: string | null;
}

/** The target of a request for a short link. */
export interface LinkTarget {
  /**
   * - `destination`: the destination of the campaign
   * - `expired`: the `expiredUrl` of the domain of the campaign. The campaign is archived, has ended or has no
   *   destination.
   * - `unknown`: the `notFoundUrl` of the domain that the request names. The host has no such link, or the campaign is
   *   a draft or has not started.
   */
  readonly type: 'destination' | 'expired' | 'unknown';
  /** The URI to redirect to. It is missing if there is none, or if it would lead back to this server. */
  readonly uri?: string;
  /** The link, if the request is redirected to its destination. */
  readonly link?: Link | undefined;
}

/**
 * Returns the type of target that the links of a campaign have at `now`, in milliseconds since the epoch. If the
 * conditions of both `expired` and `unknown` are met, the type is `expired`.
 */
export function getTargetType(
  { status, destinationUrl, startsAt, endsAt }: Omit<LinkCampaign, 'domain'>,
  now: number,
): LinkTarget['type'] {
  if (status === 'archived' || endsAt < now || destinationUrl === null) return 'expired';
  if (status === 'draft' || startsAt > now) return 'unknown';
  return 'destination';
}
