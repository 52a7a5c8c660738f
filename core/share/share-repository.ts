import type { Order, Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Share, ShareSort } from './share.ts';

export interface ShareFilter {
  readonly campaignId: string;
  /** Only the share of this member. */
  readonly memberId?: string | undefined;
  readonly sortBy: ShareSort;
  readonly sortOrder: Order;
}

export interface ShareRepository extends Pick<Repository<Share>, 'findById' | 'add' | 'update' | 'updateMany'> {
  findPage(workspaceId: string, filter: ShareFilter, request: PageRequest): Promise<Page<Share>>;
  /**
   * Returns, by campaign ID, the `position` of the member's share in the campaign: 1 for the first share of the
   * campaign, 2 for the second, and so on. Campaigns that the member has not shared are missing.
   */
  findPositions(
    workspaceId: string,
    memberId: string,
    campaignIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>>;
}
