import type { Order, Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { ContentPillar, ContentPillarSort } from './content-pillar.ts';

/** The content pillars to list. A pillar must match all filters. */
export interface ContentPillarFilter {
  readonly ids?: readonly string[] | undefined;
  /** A case-insensitive search term in title and description. */
  readonly search?: string | undefined;
  readonly sortBy: ContentPillarSort;
  readonly sortOrder: Order;
}

/** The content pillars of all workspaces. */
export interface ContentPillarRepository
  extends Pick<Repository<ContentPillar>, 'findById' | 'findMany' | 'iterate' | 'add' | 'update' | 'remove'> {
  /** Returns a page of the content pillars that match the filter. */
  findPage(workspaceId: string, filter: ContentPillarFilter, request: PageRequest): Promise<Page<ContentPillar>>;
}
