import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { withTimeout } from '../node/with-timeout.ts';

/** The time that the calls of `run` for a request may take together. The time between these calls does not count. */
export class TimeBudget {
  constructor(private remainingMs: number) {}

  /** Settles like `work`, or rejects when the budget is used up. The work then goes on, and its result is ignored. */
  async run<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await withTimeout(work, this.remainingMs, createTimeoutError);
    } finally {
      this.remainingMs -= performance.now() - startedAt;
    }
  }
}

const createTimeoutError = () =>
  new StorageUnavailable('The storage did not respond before the deadline of the request.');
