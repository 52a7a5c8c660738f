import { setTimeout as delay } from 'node:timers/promises';
import type { MongoError } from 'mongodb';
import { withTimeout } from '../node/with-timeout.ts';
import { createWriteConflictError } from '../persistence/record-store.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';
import { createUnavailableError } from './connection.ts';
import type { Lock, Locks } from './locks.ts';

const WRITE_CONFLICT_CODE = 112;
const MIN_BACKOFF_MS = 5;
const MAX_BACKOFF_MS = 100;

/** The result of an attempt if another change won: the record changed after the attempt had read it. */
export const WRITE_CONFLICT = Symbol('write conflict');

/** Returns whether another change won. A network error also ends a transaction, but has no code. */
export function isWriteConflict(error: MongoError): boolean {
  const isTransactionError = error.hasErrorLabel('TransientTransactionError') && error.code !== undefined;
  return error.code === WRITE_CONFLICT_CODE || isTransactionError;
}

/**
 * Retries an attempt until it ends without a write conflict. Rejects after `STORAGE_TIMEOUT_MS`: with `conflict` if an
 * attempt had a write conflict, otherwise with `DatabaseUnavailable`. `updatedKeys` has the keys of the records that
 * the attempt updates. If `firstLock` is given, the first attempt waits for it. Each later attempt first locks the
 * keys, and the first attempt can do so with `lock`. So changes of a record on which many changes conflict are made one
 * after another.
 */
export async function retryOnConflict<T>(
  locks: Locks,
  updatedKeys: ReadonlySet<string>,
  attempt: (lock: () => Promise<void>) => Promise<T | typeof WRITE_CONFLICT>,
  firstLock?: Lock,
): Promise<T> {
  let hasEnded = false;
  let hasConflicted = false;
  let lockedCount = 0;
  let currentLock: Lock | undefined;
  const createError = () => (hasConflicted ? createWriteConflictError() : createUnavailableError());
  const lock = async () => {
    // The timeout does not end the attempt, which may wait for a lock, or request one, after this call has ended.
    if (hasEnded) throw createError();
    if (lockedCount < updatedKeys.size) {
      currentLock?.release();
      lockedCount = updatedKeys.size;
      currentLock = locks.request([...updatedKeys]);
    }
    await currentLock?.acquired;
    if (hasEnded) throw createError();
  };
  const repeat = async () => {
    await firstLock?.acquired;
    for (let backoff = MIN_BACKOFF_MS; !hasEnded; backoff = Math.min(2 * backoff, MAX_BACKOFF_MS)) {
      const result = await attempt(lock);
      if (result !== WRITE_CONFLICT) return result;
      hasConflicted = true;
      if (lockedCount < updatedKeys.size) await lock();
      else await delay(Math.random() * backoff);
    }
    throw createError();
  };
  try {
    return await withTimeout(repeat(), STORAGE_TIMEOUT_MS, createError);
  } finally {
    hasEnded = true;
    currentLock?.release();
    firstLock?.release();
  }
}
