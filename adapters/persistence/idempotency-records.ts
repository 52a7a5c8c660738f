import type { IdempotencyRecord } from '../../core/idempotency/idempotency.ts';
import type { IdempotencyRepository } from '../../core/idempotency/idempotency-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

export const idempotencyRecordSchema = defineSchema<IdempotencyRecord>({
  columns: { expiresAt: 'number' },
  expires: 'expiresAt',
});

export function createIdempotencyRepository(store: RecordStore<IdempotencyRecord>): IdempotencyRepository {
  const { update } = createRepository(store, idempotencyRecordSchema);
  // A crash or a failed commit may lose the lock. This is safe: if the transaction of the request is in the same
  // commit, it is lost, too. If it is committed later, it finds no lock, and changes nothing.
  return { update, add: (lock) => store.add(lock, { isDeferred: true }) };
}
