import { IDEMPOTENCY_KEY_LENGTH, LOCK_TTL_MS } from '../limits.ts';
import type { Entity } from '../shared/entity.ts';

/** The response of the first successful request, in the form that the adapter needs to replay it. */
export type StoredResponse = object & {
  /** The ID of the record that the request created, changed or deleted. */
  readonly recordId?: string | undefined;
};

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

/** An idempotency key has only visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = new RegExp(
  `^[!-~]{${IDEMPOTENCY_KEY_LENGTH.min},${IDEMPOTENCY_KEY_LENGTH.max}}$`,
);

/** Returns the record that locks a request for an attempt, whose ID is `lockOwner`. */
export function newLock(
  id: string,
  { workspaceId, fingerprint }: Pick<IdempotencyRecord, 'workspaceId' | 'fingerprint'>,
  lockOwner: string,
  now: number,
): IdempotencyRecord {
  return { id, workspaceId, fingerprint, lockOwner, response: null, expiresAt: now + LOCK_TTL_MS };
}
