import type { Order, Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { ContentPillar, ContentPillarSort } from './content-pillar.ts';

export interface ContentPillarFilter {
  readonly ids?: readonly string[] | undefined;
  readonly search?: string | undefined;
  readonly sortBy: ContentPillarSort;
  readonly sortOrder: Order;
}

export interface ContentPillarRepository
  extends Pick<Repository<ContentPillar>, 'findById' | 'findMany' | 'iterate' | 'add' | 'update' | 'remove'> {
  findPage(workspaceId: string, filter: ContentPillarFilter, request: PageRequest): Promise<Page<ContentPillar>>;
}
