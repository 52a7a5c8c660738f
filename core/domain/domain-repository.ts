import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Domain } from './domain.ts';

export interface DomainFilter {
  readonly includeArchived: boolean;
  readonly search?: string | undefined;
}

export interface DomainRepository extends Pick<Repository<Domain>, 'findById' | 'iterate' | 'add' | 'update'> {
  /** Returns the domains with these slugs, including archived domains. */
  findBySlugs(workspaceId: string, slugs: readonly string[]): Promise<readonly Domain[]>;
  /** Returns the ID of the domain that has been live for the longest time. */
  findPrimaryId(workspaceId: string): Promise<string | undefined>;
  findPage(workspaceId: string, filter: DomainFilter, request: PageRequest): Promise<Page<Domain>>;
}
