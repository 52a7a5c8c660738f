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
 * Locks the keys of records before an attempt updates them. With `canWait`, waits for the locks. Otherwise, resolves to
 * `false` if another attempt has one of them: then this attempt must end with a write conflict.
 */
export type LockKeys = (keys: readonly string[], canWait: boolean) => Promise<boolean>;

/**
 * Retries an attempt until it ends without a write conflict. Rejects after `STORAGE_TIMEOUT_MS`: with `conflict` if an
 * attempt had a write conflict, otherwise with `DatabaseUnavailable`. `updatedKeys` has the keys of the records that
 * the attempt updates. If `firstLock` is given, the first attempt waits for it, and an attempt adds keys with its
 * argument. Each later attempt first locks all keys. So changes of a record on which many changes conflict are made one
 * after another.
 */
export async function retryOnConflict<T>(
  locks: Locks,
  updatedKeys: Set<string>,
  attempt: (lockKeys: LockKeys) => Promise<T | typeof WRITE_CONFLICT>,
  firstLock?: Lock,
): Promise<T> {
  let hasEnded = false;
  let hasConflicted = false;
  let lockedCount = 0;
  let currentLocks: Lock[] = [];
  const createError = () => (hasConflicted ? createWriteConflictError() : createUnavailableError());
  const releaseAll = () => {
    for (const lock of currentLocks) lock.release();
    currentLocks = [];
  };
  const lockAll = async () => {
    // The timeout does not end the attempt, which may wait for a lock, or request one, after this call has ended.
    if (hasEnded) throw createError();
    if (lockedCount < updatedKeys.size) {
      releaseAll();
      lockedCount = updatedKeys.size;
      currentLocks.push(locks.request([...updatedKeys]));
    }
    for (const { acquired } of currentLocks) await acquired;
    if (hasEnded) throw createError();
  };
  const lockKeys: LockKeys = async (keys, canWait) => {
    if (hasEnded) throw createError();
    const added = keys.filter((key) => !updatedKeys.has(key));
    for (const key of added) updatedKeys.add(key);
    if (canWait) await lockAll();
    else if (locks.areFree(added)) {
      // The attempt has read already. After waiting, it would conflict with the changes that it waited for.
      currentLocks.push(locks.request(added));
      lockedCount = updatedKeys.size;
    } else return false;
    return true;
  };
  const repeat = async () => {
    await firstLock?.acquired;
    for (let backoff = MIN_BACKOFF_MS; !hasEnded; backoff = Math.min(2 * backoff, MAX_BACKOFF_MS)) {
      const result = await attempt(lockKeys);
      if (result !== WRITE_CONFLICT) return result;
      hasConflicted = true;
      if (lockedCount < updatedKeys.size) await lockAll();
      else await delay(Math.random() * backoff);
    }
    throw createError();
  };
  try {
    return await withTimeout(repeat(), STORAGE_TIMEOUT_MS, createError);
  } finally {
    hasEnded = true;
    releaseAll();
    firstLock?.release();
  }
}
