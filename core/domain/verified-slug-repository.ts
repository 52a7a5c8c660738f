import type { Domain } from './domain.ts';

/** A slug, and the live, verified domain that has it. */
export interface VerifiedSlug {
  readonly slug: string;
  readonly workspaceId: string;
  readonly domainId: string;
}

/** The slugs of the live, verified domains of all workspaces. Each slug belongs to one workspace only. */
export interface VerifiedSlugRepository {
  /** Returns the workspace and the ID of the live, verified domain with a slug, or `undefined` if there is none. */
  find(slug: string): Promise<VerifiedSlug | undefined>;
  /** Adds the slug of a domain. Rejects with `conflict` if the repository already has the slug. */
  add(domain: Domain): Promise<void>;
  /** Removes a slug. */
  remove(slug: string): Promise<void>;
}
