import { BASE62 } from '../access/api-key.ts';
import type { Campaign } from '../campaign/campaign.ts';
import type { Domain } from '../domain/domain.ts';

/** A short link: the key in its path, and the share that its clicks count for. */
export interface Link {
  readonly key: string;
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly memberId: string;
}

export const LINK_KEY_LENGTH = 8;
const LINK_KEY_PATTERN = new RegExp(`^[${BASE62}]{${LINK_KEY_LENGTH}}$`);

export function isLinkKey(text: string): boolean {
  return LINK_KEY_PATTERN.test(text);
}

/** The choices of the operator for short links. */
export interface LinkOptions {
  /** The base of the links of campaigns without a live, verified domain: an origin such as `https://go.example.com`. */
  readonly baseUrl?: string | undefined;
}

/** Returns whether short links can use a domain. */
export function isUsable(domain: Domain | undefined): domain is Domain {
  return domain?.verified === true && !domain.archived;
}

/** Returns the base of the short links of a campaign, or `undefined` if there is none. `domain` is the domain of the campaign. */
export function getLinkBase(domain: Domain | undefined, { baseUrl }: LinkOptions): string | undefined {
  return isUsable(domain) ? `https://${domain.slug}` : baseUrl;
}

/** The fields of a campaign that decide the targets of its links. */
export type LinkCampaign = Pick<Campaign, 'status' | 'destinationUrl' | 'startsAt' | 'endsAt'>;

export function toLinkCampaign({ status, destinationUrl, startsAt, endsAt }: Campaign): LinkCampaign {
  return { status, destinationUrl, startsAt, endsAt };
}

/** `open` links lead to the destination, `closed` links have expired or have no destination, and `hidden` links do not lead there yet. */
export type LinkState = 'open' | 'closed' | 'hidden';

/** The conditions of each state. The first state whose condition holds applies. */
const stateConditions: readonly (readonly [LinkState, (campaign: LinkCampaign, now: number) => boolean])[] = [
  ['closed', (campaign, now) => campaign.status === 'archived' || campaign.endsAt < now],
  ['closed', ({ destinationUrl }) => destinationUrl === null],
  ['hidden', (campaign, now) => campaign.status === 'draft' || campaign.startsAt > now],
  ['open', () => true],
];

/** Returns the state of the links of a campaign at a time, in milliseconds since the epoch. */
export function getLinkState(campaign: LinkCampaign, now: number): LinkState {
  return stateConditions.find(([, applies]) => applies(campaign, now))?.[0] as LinkState;
}

/** The target of a request for a short link. */
export type LinkTarget =
  /** To the destination of the campaign. */
  | { readonly type: 'destination'; readonly url: string; readonly link: Link }
  /** The link is closed: it has expired or has no destination. `url` is the page of the domain for expired links, if it has one. */
  | { readonly type: 'expired'; readonly url: string | undefined }
  /** There is no such link, or it is not open yet. `url` is the page of the domain of the request for unknown links, if it has one. */
  | { readonly type: 'unknown'; readonly url: string | undefined };
