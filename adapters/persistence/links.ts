import type { Link } from '../../core/link/link.ts';
import type { LinkRepository } from '../../core/link/link-repository.ts';
import type { GlobalRecordStore } from './record-store.ts';

/**
 * A short link. Its `id` is the key of the link, which is the path of its URL. IDs are unique over all workspaces, so
 * the keys of links are unique, too.
 */
export interface StoredLink extends Omit<Link, 'key'> {
  readonly id: string;
}

export function createLinkRepository(store: GlobalRecordStore<StoredLink>): LinkRepository {
  return {
    async findByKey(key) {
      const record = await store.get(key);
      if (!record) return undefined;
      const { id, ...link } = record;
      return { key: id, ...link };
    },
    add: ({ key, ...link }) => store.add({ id: key, ...link }),
  };
}
