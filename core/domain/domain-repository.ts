import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
import type { Domain } from './domain.ts';

export interface DomainFilter {
  readonly includeArchived: boolean;
  readonly search?: string | undefined;
}

/** The domains of all workspaces. A slug is unique in its workspace. */
export interface DomainRepository {
  findById(workspaceId: string, id: string): Promise<Domain | undefined>;
  /** Returns the domains with these slugs, including archived domains. */
  findBySlugs(workspaceId: string, slugs: readonly string[]): Promise<readonly Domain[]>;
  /** Returns the ID of the domain that has been live for the longest time. */
  findPrimaryId(workspaceId: string): Promise<string | undefined>;
  findPage(workspaceId: string, filter: DomainFilter, request: PageRequest): Promise<Page<Domain>>;
  add(domain: Domain): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Domain>): Promise<Domain | undefined>;
}
