import type { Order, Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
import type { Share, ShareSort } from './share.ts';

export interface ShareFilter {
  /** Only the shares of this campaign. */
  readonly campaignId?: string | undefined;
  /** Only the shares of this member. */
  readonly memberId?: string | undefined;
  readonly sortBy: ShareSort;
  readonly sortOrder: Order;
}

/** The shares of all workspaces. */
export interface ShareRepository {
  findById(workspaceId: string, id: string): Promise<Share | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Share[]>;
  findPage(workspaceId: string, filter: ShareFilter, request: PageRequest): Promise<Page<Share>>;
  add(share: Share): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Share>): Promise<Share | undefined>;
  /**
   * Updates each of the shares, and returns them. Call it in a transaction: otherwise, an error can leave some of them
   * unchanged.
   */
  updateMany(workspaceId: string, ids: readonly string[], change: EntityChange<Share>): Promise<readonly Share[]>;
}
