import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Domain } from './domain.ts';

/** The domains to list. A domain must match all filters. */
export interface DomainFilter {
  readonly includeArchived: boolean;
  /** A case-insensitive search term in the slug and its Unicode form. */
  readonly search?: string | undefined;
}

/** The domains of all workspaces. */
export interface DomainRepository extends Pick<Repository<Domain>, 'findById' | 'iterate' | 'add' | 'update'> {
  /** Returns the domains with these slugs, including archived domains. */
  findBySlugs(workspaceId: string, slugs: readonly string[]): Promise<readonly Domain[]>;
  /** Returns the ID of the domain that has been live for the longest time. */
  findPrimaryId(workspaceId: string): Promise<string | undefined>;
  /** Returns a page of domains, newest first. */
  findPage(workspaceId: string, filter: DomainFilter, request: PageRequest): Promise<Page<Domain>>;
}
