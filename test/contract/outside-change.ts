import { setTimeout as delay } from 'node:timers/promises';
import { doNothing } from '../../core/shared/do-nothing.ts';

/**
 * On a serialized engine, the change cannot end during the transaction. The test gives it this time to begin, and then
 * continues.
 */
const START_DELAY_MS = 50;

/** A change that is made once from outside of a transaction, while the work of the transaction runs. */
export class OutsideChange<T> {
  private result: Promise<T> | undefined;

  constructor(
    private readonly transactions: 'optimistic' | 'serialized',
    private readonly change: () => Promise<T>,
  ) {}

  /**
   * Starts the change at the first call. Resolves when an optimistic engine has made the change. On a serialized
   * engine, the change waits until the transaction has ended, so the work must not wait for it.
   */
  async start(): Promise<void> {
    if (this.result) return;
    this.result = this.change();
    // The caller of `finish` gets the error.
    this.result.catch(doNothing);
    await (this.transactions === 'optimistic' ? this.result.catch(doNothing) : delay(START_DELAY_MS));
  }

  /** Resolves to the result of the change. */
  finish(): Promise<T> {
    return this.result ?? Promise.reject(new Error('the change was not started'));
  }
}
