import type { IdempotencyRecord, StoredResponse } from '../../core/idempotency/idempotency.ts';
import type { IdempotencyRepository } from '../../core/idempotency/idempotency-repository.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { RecordSchema, RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import type { RecordMapping } from './schema.ts';

/** An idempotency record in storage, where the lock owner is named `holder`, and the response `reply`. */
export interface StoredIdempotencyRecord extends Entity {
  readonly fingerprint: string;
  readonly holder: string;
  readonly reply: StoredResponse | null;
  readonly expiresAt: number;
}

export const idempotencyRecordSchema: RecordSchema<StoredIdempotencyRecord> &
  RecordMapping<IdempotencyRecord, StoredIdempotencyRecord> = {
  columns: { expiresAt: 'number' },
  unique: {},
  indexes: [],
  expires: 'expiresAt',
  toRecord: ({ lockOwner, response, ...entity }) => ({ ...entity, holder: lockOwner, reply: response }),
  toEntity: ({ holder, reply, ...record }) => ({ ...record, lockOwner: holder, response: reply }),
};

export function createIdempotencyRepository(store: RecordStore<StoredIdempotencyRecord>): IdempotencyRepository {
  const { update } = createRepository(store, idempotencyRecordSchema);
  // A crash or a failed commit may lose the lock. This is safe: if the transaction of the request is in the same commit, it is lost, too. If
  // it is committed later, it finds no lock, and changes nothing.
  return { update, add: (lock) => store.add(idempotencyRecordSchema.toRecord(lock), { canBeLost: true }) };
}
