/** The maximum number of visits to keep. With more, the oldest are evicted early. If an evicted visit is repeated, it counts again. */
const MAX_VISIT_COUNT = 500_000;

/** Keeps visits for some time. A visit is a short text that consists of the link and the hash of the visitor. */
export class RecentVisits {
  /** The time when each visit expires, in milliseconds of the monotonic clock. The oldest visit is first. */
  private readonly expiryTimes = new Map<string, number>();

  constructor(
    private readonly durationMs: number,
    private readonly now = (): number => performance.now(),
    private readonly maxCount = MAX_VISIT_COUNT,
  ) {}

  /** Adds a visit. Returns `false` if the same visit was added less than `durationMs` ago, and does not add it again. */
  add(visit: string): boolean {
    const now = this.now();
    for (const [oldest, end] of this.expiryTimes) {
      if (end > now && this.expiryTimes.size < this.maxCount) break;
      this.expiryTimes.delete(oldest);
    }
    if (this.expiryTimes.has(visit)) return false;
    this.expiryTimes.set(visit, now + this.durationMs);
    return true;
  }
}
