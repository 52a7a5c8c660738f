import type { VisitorKeyRepository } from '../../core/link/visitor-key-repository.ts';
import { iterateGlobal } from './iterate-by-id.ts';
import type { GlobalRecordStore } from './record-store.ts';

/**
 * The key with which all visitors of a day (UTC) are hashed, stored as `secret`. The ID is the day, such as
 * `2026-01-31`.
 */
export interface StoredVisitorKey {
  readonly id: string;
  readonly secret: string;
}

export function createVisitorKeyRepository(store: GlobalRecordStore<StoredVisitorKey>): VisitorKeyRepository {
  return {
    findByDay: async (day) => (await store.get(day))?.secret,
    add: (day, key) => store.add({ id: day, secret: key }),
    async removeOthers(day) {
      for await (const { id } of iterateGlobal(store)) {
        if (id !== day) await store.remove(id);
      }
    },
  };
}
