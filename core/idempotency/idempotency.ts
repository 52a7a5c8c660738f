import type { Entity } from '../shared/entity.ts';

/**
 * The response of the first successful request, in the form that the adapter needs to replay it. The core does not look
 * inside.
 */
export type StoredResponse = object;

/**
 * The lock or the stored response of a request with an idempotency key. Its ID combines API key and idempotency key.
 */
export interface IdempotencyRecord extends Entity {
  readonly fingerprint: string;
  /** The ID of the attempt that has the lock. */
  readonly lockOwner: string;
  /** The response to replay. It is `null` while the request is in progress. */
  readonly response: StoredResponse | null;
  /** The time at which the lock or the response expires (milliseconds since the epoch). */
  readonly expiresAt: number;
}

export const IDEMPOTENCY_KEY_LENGTH = { min: 1, max: 255 };
/** An idempotency key has only visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = new RegExp(
  `^[!-~]{${IDEMPOTENCY_KEY_LENGTH.min},${IDEMPOTENCY_KEY_LENGTH.max}}$`,
);
/** The time for which a stored response can be replayed. */
export const RESPONSE_TTL_HOURS = 24;
export const RESPONSE_TTL_MS = RESPONSE_TTL_HOURS * 60 * 60 * 1000;
/**
 * The time for which a request stays locked if its process crashes: at most 30 seconds (docs/reliability.md). Each
 * process only estimates the time of the storage, so one second is left for the differences between
 * these estimates.
 */
export const LOCK_TTL_MS = 29 * 1000;

/** Returns the record that locks a request for an attempt, whose ID is `lockOwner`. */
export function newLock(
  id: string,
  { workspaceId, fingerprint }: Pick<IdempotencyRecord, 'workspaceId' | 'fingerprint'>,
  lockOwner: string,
  now: number,
): IdempotencyRecord {
  return { id, workspaceId, fingerprint, lockOwner, response: null, expiresAt: now + LOCK_TTL_MS };
}
