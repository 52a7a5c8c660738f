import type { VisitorKeyRepository } from '../../core/link/visitor-key-repository.ts';
import { iterateGlobal } from './iterate-by-id.ts';
import type { GlobalRecordStore } from './record-store.ts';

/** The secret with which visitors are hashed on one day in UTC. The ID is the day, such as `2026-01-31`. */
export interface StoredVisitorKey {
  readonly id: string;
  readonly secret: string;
}

export function createVisitorKeyRepository(store: GlobalRecordStore<StoredVisitorKey>): VisitorKeyRepository {
  return {
    findByDay: async (day) => (await store.get(day))?.secret,
    add: (day, secret) => store.add({ id: day, secret }),
    async removeBefore(day) {
      for await (const { id } of iterateGlobal(store)) {
        if (id < day) await store.remove(id);
      }
    },
  };
}
