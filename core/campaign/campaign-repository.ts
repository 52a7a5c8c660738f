import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Campaign, CampaignSort, CampaignSummary, DateWindow } from './campaign.ts';

export interface CampaignFilter {
  /** The normalized slug of the domain. `null` stands for a text that cannot be normalized, and matches nothing. */
  readonly domain?: string | null | undefined;
  /** Lists of tag IDs: a campaign must have a tag of each list. */
  readonly tagIds: readonly (readonly string[])[];
  /** The ID of the member who created the campaign. */
  readonly createdBy?: string | undefined;
  readonly includeArchived: boolean;
  readonly dates?: DateWindow | undefined;
  readonly search?: string | undefined;
  /** The field to order by, in descending order. */
  readonly sortBy: CampaignSort;
}

export interface CampaignRepository
  extends Pick<Repository<Campaign>, 'findById' | 'iterate' | 'add' | 'update' | 'updateMany'> {
  /** Returns the summary of a campaign, or `undefined` if the workspace does not have the campaign. */
  findSummary(workspaceId: string, id: string): Promise<CampaignSummary | undefined>;
  findPage(workspaceId: string, filter: CampaignFilter, request: PageRequest): Promise<Page<CampaignSummary>>;
}
