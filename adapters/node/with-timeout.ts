/**
 * Settles like `work`, or rejects with `createError()` after `milliseconds`. The work then goes on, and its result is
 * ignored.
 */
export function withTimeout<T>(work: Promise<T>, milliseconds: number, createError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // After the event loop was blocked, it runs timers, reads what has arrived, and calls the callback of
    // `setImmediate`, in this order. So a result that has arrived still counts.
    const timer = setTimeout(() => setImmediate(() => reject(createError())), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
