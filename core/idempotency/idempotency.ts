import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';

/** A reply as it was given first. */
export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

/** A request that carried an idempotency key: while it runs `reply` is `null`, then it is the reply that repeats get. */
export interface IdempotentRequest extends Entity {
  readonly fingerprint: string;
  /** Which of the processes that tried has the request. */
  readonly holder: string;
  readonly reply: StoredResponse | null;
  readonly expiresAt: number;
}

export type IdempotentRequestRepository = RecordStore<IdempotentRequest>;

export const idempotentRequestSchema: RecordSchema<IdempotentRequest> = {
  name: 'idempotentRequests',
  unique: {},
  indexes: [],
  expires: 'expiresAt',
};

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
export const RESPONSE_TTL_MS = 24 * 60 * 60 * 1000;
export const LOCK_TTL_MS = 30 * 1000;
