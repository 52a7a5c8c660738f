/** The latency that requests in flight should not exceed. */
const TARGET_LATENCY_MS = 200;
/** The length of a window in which served requests are counted. */
const WINDOW_MS = 500;
/**
 * The minimum length of the current window in a calculation. In a shorter time, one request would look like a high throughput.
 */
const MIN_WINDOW_MS = 50;

/** Counts requests in flight. The limit is the recent throughput times the target latency (Little's law), but at least `min`. */
export class InFlightLimit {
  private inFlightCount = 0;
  /** The start of the current window. */
  private startedAt = 0;
  /** The number of requests that were served in the current window, and in the one before. */
  private currentCount = 0;
  private previousCount = 0;

  constructor(private readonly min: number) {}

  /** The number of requests in flight. */
  get count(): number {
    return this.inFlightCount;
  }

  isFull(now: number): boolean {
    return this.count >= this.min && this.count >= this.getThroughputPerMs(now) * TARGET_LATENCY_MS;
  }

  /** Counts a request as in flight. */
  begin(): void {
    this.inFlightCount++;
  }

  /** Stops counting a request as in flight. Counts it as served if `now` is given. */
  end(now: number | undefined): void {
    this.inFlightCount--;
    if (now === undefined) return;
    this.rollWindow(now);
    this.currentCount++;
  }

  /**
   * Returns the throughput per millisecond in the current and the previous window. If a whole window passes without a served
   * request and without a call of this method, the counts start anew.
   */
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
