import type { Entity, Kind, Records } from '../shared/records.ts';

/** A reply as it was given first. */
export interface KeptReply {
  readonly status: number;
  readonly body: string;
}

/** A request that carried an idempotency key: while it runs `reply` is `null`, then it is the reply that repeats get. */
export interface IdempotentRequest extends Entity {
  readonly fingerprint: string;
  /** Which of the processes that tried has the request. */
  readonly holder: string;
  readonly reply: KeptReply | null;
  readonly expiresAt: number;
}

export type IdempotentRequestRepository = Records<IdempotentRequest>;

export const idempotentRequestKind: Kind<IdempotentRequest> = {
  name: 'idempotentRequests',
  unique: {},
  indexes: [],
  expires: 'expiresAt',
};

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
export const KEPT_MS = 24 * 60 * 60 * 1000;
export const HELD_MS = 30 * 1000;
