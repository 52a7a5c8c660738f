/** How long a counted visit prevents that the next visit of the same visitor to the same link counts. */
export const VISIT_TTL_MS = 3_600_000;
/**
 * The maximum number of visits to keep. With more, the oldest are evicted early. If an evicted visit is repeated, it
 * counts again. So many visits take about 50 MB.
 */
export const MAX_VISIT_COUNT = 400_000;

/** Keeps counted visits for some time. A visit is a short text: the hash of the link and the visitor. */
export class RecentVisits {
  /** The time when each visit expires, in milliseconds of the monotonic clock. The oldest visit is first. */
  private readonly expiryTimes = new Map<string, number>();

  constructor(
    private readonly ttlMs = VISIT_TTL_MS,
    private readonly maxCount = MAX_VISIT_COUNT,
  ) {}

  has(visit: string): boolean {
    return (this.expiryTimes.get(visit) ?? 0) > performance.now();
  }

  /** Adds a visit. Returns `false` if it was added less than `ttlMs` ago. Then it is not added again. */
  add(visit: string): boolean {
    const now = performance.now();
    for (const [oldest, expiryTime] of this.expiryTimes) {
      if (expiryTime > now && this.expiryTimes.size < this.maxCount) break;
      this.expiryTimes.delete(oldest);
    }
    if (this.has(visit)) return false;
    this.expiryTimes.set(visit, now + this.ttlMs);
    return true;
  }
}
