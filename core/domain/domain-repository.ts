import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Domain } from './domain.ts';

/** The domains to list. A domain must match all filters. */
export interface DomainFilter {
  readonly includeArchived: boolean;
  /** A case-insensitive search term in the slug and its Unicode form. */
  readonly search?: string | undefined;
}

/** The domains of all workspaces, and the slugs that are claimed: at most one workspace has a live, verified domain with a slug. */
export interface DomainRepository extends Pick<Repository<Domain>, 'findById' | 'iterate' | 'add' | 'update'> {
  /** Returns the domains with these slugs, including archived domains. */
  findBySlugs(workspaceId: string, slugs: readonly string[]): Promise<readonly Domain[]>;
  /** Returns the ID of the domain that has been live for the longest time. */
  findPrimaryId(workspaceId: string): Promise<string | undefined>;
  /** Returns a page of domains, newest first. */
  page(workspaceId: string, filter: DomainFilter, page: PageRequest): Promise<Page<Domain>>;
  /** Returns the ID of the workspace that has claimed a slug. */
  findClaimingWorkspaceId(slug: string): Promise<string | undefined>;
  /** Returns the domain for which a slug is claimed. */
  findClaimingDomain(slug: string): Promise<Domain | undefined>;
  /** Claims the slug of a domain for its workspace. Rejects with `conflict` if the slug is claimed. */
  claimSlug(domain: Domain): Promise<void>;
  /** Ends the claim of a slug. */
  releaseSlug(slug: string): Promise<void>;
}
