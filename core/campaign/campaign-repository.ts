import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange, FindFields } from '../shared/repository.ts';
import type { Campaign, CampaignSort, CampaignStatus, CampaignSummary, DateWindow } from './campaign.ts';

export interface CampaignFilter {
  /** The normalized slug of the domain. `null` stands for a text that cannot be normalized, and matches nothing. */
  readonly domain?: string | null | undefined;
  /** Lists of tag IDs: a campaign must have a tag of each list. */
  readonly tagIds: readonly (readonly string[])[];
  /** The ID of the member who created the campaign. */
  readonly createdBy?: string | undefined;
  readonly includeArchived: boolean;
  readonly status?: readonly CampaignStatus[] | undefined;
  /** The groups of a campaign must include at least one of these groups. */
  readonly groupIds?: readonly string[] | undefined;
  /** Only campaigns that run at the time `now`, and that have no groups or at least one of these groups. */
  readonly availability?: { readonly groupIds: readonly string[]; readonly now: number } | undefined;
  readonly dates?: DateWindow | undefined;
  readonly search?: string | undefined;
  /** The field to order by, in descending order. */
  readonly sortBy: CampaignSort;
}

/** The campaigns of all workspaces. */
export interface CampaignRepository {
  findById(workspaceId: string, id: string): Promise<Campaign | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Campaign[]>;
  readonly findFields: FindFields<Campaign>;
  findSummary(workspaceId: string, id: string): Promise<CampaignSummary | undefined>;
  findPage(workspaceId: string, filter: CampaignFilter, request: PageRequest): Promise<Page<CampaignSummary>>;
  /**
   * Returns, by campaign ID, the position of the member's share in the campaign: 1 for the first share of the
   * campaign, 2 for the second, and so on. Campaigns that the member has not shared are missing.
   */
  findSharePositions(
    workspaceId: string,
    memberId: string,
    campaignIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>>;
  add(campaign: Campaign): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Campaign>): Promise<Campaign | undefined>;
  /** Returns whether the campaign existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  /**
   * Updates each of the campaigns, and returns them in any order. Call it in a transaction: otherwise, an error can
   * leave some of them unchanged.
   */
  updateMany(workspaceId: string, ids: readonly string[], change: EntityChange<Campaign>): Promise<readonly Campaign[]>;
}
