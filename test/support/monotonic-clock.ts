/** Runs `work` while `getTime` replaces the monotonic clock (`performance.now`). `getTime` returns milliseconds. */
export async function withMonotonicClock<T>(getTime: () => number, work: () => T | Promise<T>): Promise<T> {
  const { now } = performance;
  performance.now = getTime;
  try {
    return await work();
  } finally {
    performance.now = now;
  }
}
