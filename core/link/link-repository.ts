import type { Link, LinkCampaign } from './link.ts';

/** The short links of all workspaces. */
export interface LinkRepository {
  findByKey(key: string): Promise<Link | undefined>;
  findCampaign(workspaceId: string, campaignId: string): Promise<LinkCampaign | undefined>;
  /** Adds a link. Rejects with `conflict` if its key is taken. */
  add(link: Link): Promise<void>;
}
