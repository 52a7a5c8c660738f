import type { Link } from './link.ts';

/** The short links of all workspaces. */
export interface LinkRepository {
  /** Returns the link with a key, or `undefined`. */
  findByKey(key: string): Promise<Link | undefined>;
  /** Adds a link. Rejects with `conflict` if its key is taken. */
  add(link: Link): Promise<void>;
}
