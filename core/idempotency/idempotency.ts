import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';

/** The response of the first successful request. */
export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

/**
 * The lock or the stored response of a request with an idempotency key. The `id` combines the API key, the operation and the
 * idempotency key. The names `holder` and `reply` are stored in databases, so they cannot change.
 */
export interface IdempotencyRecord extends Entity {
  readonly fingerprint: string;
  /** The id of the lock owner. Each attempt to get the lock creates a new id. */
  readonly holder: string;
  /** The response to replay. It is `null` while the request is in progress. */
  readonly reply: StoredResponse | null;
  /** The time at which the lock or the response expires (milliseconds since the epoch). */
  readonly expiresAt: number;
}

export type IdempotencyRecordStore = RecordStore<IdempotencyRecord>;

export const idempotencyRecordSchema: RecordSchema<IdempotencyRecord> = {
  name: 'idempotentRequests',
  unique: {},
  indexes: [],
  expires: 'expiresAt',
};

/** 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;
/** How long a stored response can be replayed. */
export const RESPONSE_TTL_MS = 24 * 60 * 60 * 1000;
/** How long a request stays locked if its process crashes. */
export const LOCK_TTL_MS = 30 * 1000;
