import type { Link } from '../../core/link/link.ts';
import type { LinkRepository, VisitorKeyRepository } from '../../core/link/link-repository.ts';
import { iterateById } from './iterate-by-id.ts';
import type { GlobalRecordStore } from './record-store.ts';

/** A short link. Its `id` is the key of the link, the path of its URL. Ids are unique across workspaces, so keys are, too. */
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

/** The secret with which visitors are hashed on one day in UTC. The id is the day, such as `2026-01-31`. */
export interface StoredVisitorKey {
  readonly id: string;
  readonly secret: string;
}

export function createVisitorKeyRepository(store: GlobalRecordStore<StoredVisitorKey>): VisitorKeyRepository {
  return {
    findByDay: async (day) => (await store.get(day))?.secret,
    add: (day, secret) => store.add({ id: day, secret }),
    async removeBefore(day) {
      for await (const { id } of iterateById((after, take) => store.list(after, take))) {
        if (id < day) await store.remove(id);
      }
    },
  };
}
