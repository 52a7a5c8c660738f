import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { withTimeout } from '../node/with-timeout.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';

/** How long a request waits for the storage: a little longer than the storage itself, whose error names the reason. */
const REQUEST_TIMEOUT_MS = STORAGE_TIMEOUT_MS + 200;

/**
 * The timeout of a request. It counts the time until its creation, which the request mostly spent in a queue, and the
 * calls of `run`. It does not count the time between these calls, such as the time to read the body.
 */
export class RequestTimeout {
  private remainingMs: number;

  /** `startedAt` is the time at which the request arrived, from `performance.now()`. */
  constructor(startedAt: number) {
    this.remainingMs = REQUEST_TIMEOUT_MS - (performance.now() - startedAt);
  }

  /**
   * Settles like `work`, or rejects when no time remains. The work then goes on, and its result is ignored.
   * `externalTimeoutMs` is the maximum time that `work` waits for servers other than the storage.
   */
  async run<T>(work: Promise<T>, externalTimeoutMs = 0): Promise<T> {
    const startedAt = performance.now();
    try {
      return await withTimeout(work, this.remainingMs + externalTimeoutMs, createTimeoutError);
    } finally {
      this.remainingMs -= performance.now() - startedAt;
    }
  }
}

const createTimeoutError = () =>
  new StorageUnavailable('The storage did not respond before the deadline of the request.');
