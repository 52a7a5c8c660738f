import type { IdempotencyRecord, StoredResponse } from '../../core/idempotency/idempotency.ts';
import type { IdempotencyRepository } from '../../core/idempotency/idempotency-repository.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { RecordSchema, RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';

/** `holder` and `reply` are the names that databases have for the lock owner and the response. */
export interface StoredIdempotencyRecord extends Entity {
  readonly fingerprint: string;
  readonly holder: string;
  readonly reply: StoredResponse | null;
  readonly expiresAt: number;
}

export const idempotencyRecordSchema: RecordSchema<StoredIdempotencyRecord> = {
  columns: { expiresAt: 'number' },
  unique: {},
  indexes: [],
  expires: 'expiresAt',
};

export function createIdempotencyRepository(store: RecordStore<StoredIdempotencyRecord>): IdempotencyRepository {
  return createRepository<IdempotencyRecord, StoredIdempotencyRecord>(store, {
    toRecord: ({ lockOwner, response, ...entity }) => ({ ...entity, holder: lockOwner, reply: response }),
    toEntity: ({ holder, reply, ...record }) => ({ ...record, lockOwner: holder, response: reply }),
  });
}
