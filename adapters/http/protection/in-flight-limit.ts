/** The latency that requests in flight should not exceed. */
const TARGET_LATENCY_MS = 200;
/** The length of a window in which served requests are counted. */
const WINDOW_MS = 500;
/** The minimum time that the throughput is based on. */
const MIN_WINDOW_MS = 50;

/** Counts requests in flight. The limit is the recent throughput times the target latency (Little's law), but at least `min`. */
export class InFlightLimit {
  count = 0;
  private startedAt = 0;
  /** The number of requests that were served in the current window, and in the one before. */
  private currentCount = 0;
  private previousCount = 0;

  constructor(private readonly min: number) {}

  isFull(now: number): boolean {
    return this.count >= this.min && this.count >= this.getThroughputPerMs(now) * TARGET_LATENCY_MS;
  }

  /** Stops counting a request as in flight. Counts it as served if `now` is given. */
  end(now: number | undefined): void {
    this.count--;
    if (now === undefined) return;
    this.rollWindow(now);
    this.currentCount++;
  }

  /** Returns the throughput per millisecond in the current and the previous window. After a second without use, both windows start anew. */
  getThroughputPerMs(now: number): number {
    this.rollWindow(now);
    const elapsed = Math.max(MIN_WINDOW_MS, now - this.startedAt);
    return (this.previousCount + this.currentCount) / (this.previousCount > 0 ? WINDOW_MS + elapsed : elapsed);
  }

  private rollWindow(now: number): void {
    const elapsed = now - this.startedAt;
    if (elapsed < WINDOW_MS) return;
    const isNextWindow = elapsed < 2 * WINDOW_MS;
    this.previousCount = isNextWindow ? this.currentCount : 0;
    this.currentCount = 0;
    this.startedAt = isNextWindow ? this.startedAt + WINDOW_MS : now;
  }
}
