import type { Order, Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
import type { ContentPillar, ContentPillarSort } from './content-pillar.ts';

export interface ContentPillarFilter {
  readonly ids?: readonly string[] | undefined;
  readonly search?: string | undefined;
  readonly sortBy: ContentPillarSort;
  readonly sortOrder: Order;
}

/** The content pillars of all workspaces. */
export interface ContentPillarRepository {
  findById(workspaceId: string, id: string): Promise<ContentPillar | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly ContentPillar[]>;
  findPage(workspaceId: string, filter: ContentPillarFilter, request: PageRequest): Promise<Page<ContentPillar>>;
  add(pillar: ContentPillar): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<ContentPillar>): Promise<ContentPillar | undefined>;
  /** Returns whether the pillar existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
