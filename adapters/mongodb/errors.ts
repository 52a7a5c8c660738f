import { MongoBulkWriteError, MongoError } from 'mongodb';
import { StorageUnavailable } from '../../core/shared/core-error.ts';

/**
 * The server cannot be used until a person changes the server or the connection string. The message says what to
 * change.
 */
export class UnsupportedDatabase extends Error {
  override readonly name = 'UnsupportedDatabase';
}

/** This process gave up waiting for the database, or the replica set is not initiated yet. */
export class DatabaseUnavailable extends StorageUnavailable {
  override readonly name = 'DatabaseUnavailable';
}

/**
 * A write waited too long: for the end of another transaction, such as a transaction of a crashed process, or for the
 * acknowledgment of the majority.
 */
export class LockTimeout extends StorageUnavailable {
  override readonly name = 'LockTimeout';
}

/** The error code of a command that took longer than `maxTimeMS` (MaxTimeMSExpired). */
export const MAX_TIME_EXPIRED_CODE = 50;

/**
 * Codes of socket errors that the driver does not wrap when it writes on a connection that the server has just closed.
 */
const BROKEN_SOCKET_CODES: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/**
 * The codes of transient errors. MongoDB's error_codes.yml has their names. The lines of the set are, in this order:
 * - A server or a shard is unavailable.
 * - The other codes of the category RetriableError: for example, a server starts, stops, or is no longer the primary.
 * - Data moves between shards, and the retries of mongos are used up (StaleDbVersion, StaleConfig).
 * - A collection is created, sharded or moved (LockBusy, ConflictingOperationInProgress, MovePrimaryInProgress).
 */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  ...[6, 7, 89, 133, 202, 407, 9001],
  ...[91, 134, 189, 262, 317, 358, 402, 406, 412, 10107, 11600, 11602, 13435, 13436],
  ...[249, 13388],
  ...[46, 117, 319],
]);
const TRANSIENT_NAMES: ReadonlySet<string> = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoWaitQueueTimeoutError',
  'MongoTopologyClosedError',
  'MongoNotConnectedError',
]);

/** Returns whether an error is transient: the database was unavailable or busy, and a retry may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout || isNetworkError(error)) return true;
  if (!(error instanceof MongoError)) return false;
  return (
    TRANSIENT_NAMES.has(error.name) ||
    TRANSIENT_CODES.has(error.code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('RetryableError')
  );
}

/** Returns the transient error that the driver wraps if a whole bulk write fails. Returns other errors unchanged. */
export function unwrapTransient(error: unknown): unknown {
  return error instanceof MongoBulkWriteError && isTransient(error.errorResponse) ? error.errorResponse : error;
}

/**
 * Returns whether an error says that a wait took too long. The database may only be busy, so such an error does not
 * count as an outage. `DatabaseUnavailable` is such an error: usually, this process gave up waiting, and neither the
 * driver nor the server reported a failure.
 */
export function isWaitTimeout(error: unknown): boolean {
  return (
    error instanceof LockTimeout ||
    error instanceof DatabaseUnavailable ||
    (error as Error).name === 'MongoWaitQueueTimeoutError'
  );
}

/**
 * Returns whether an error is a network error that the driver does not wrap: some socket errors, and, with mongodb+srv,
 * the errors of the DNS query for the servers.
 */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return BROKEN_SOCKET_CODES.has(code) || (syscall !== undefined && /^query/.test(syscall));
}
