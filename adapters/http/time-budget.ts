import { withTimeout } from '../node/with-timeout.ts';

const createError = () => new Error('The storage did not respond before the deadline of the request.');

/** The time that the calls of `run` for a request may take together. The time between these calls does not count. */
export class TimeBudget {
  constructor(private remainingMs: number) {}

  /**
   * Settles like `work`, or rejects when the budget is used up. The work then continues, and its result is discarded.
   */
  async run<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await withTimeout(work, this.remainingMs, createError);
    } finally {
      this.remainingMs -= performance.now() - startedAt;
    }
  }
}
