import type { Domain } from './domain.ts';

/** A slug, and the live, verified domain that has it. */
export interface VerifiedSlug {
  readonly slug: string;
  readonly workspaceId: string;
  readonly domainId: string;
}

/** The slugs of the live, verified domains of all workspaces. Each slug belongs to one workspace only. */
export interface VerifiedSlugRepository {
  find(slug: string): Promise<VerifiedSlug | undefined>;
  /** Adds the slug of a domain. Rejects with `conflict` if the repository already has the slug. */
  add(domain: Domain): Promise<void>;
  remove(slug: string): Promise<void>;
}
