/** The maximum number of visits to remember. With more, the oldest are forgotten early, and their visitors may count again. */
const MAX_VISIT_COUNT = 500_000;

/** Remembers visits for some time. A visit is a short text of the link and the hash of the visitor. */
export class RecentVisits {
  /** The end of each visit, in milliseconds of the monotonic clock. The oldest visit is first. */
  private readonly ends = new Map<string, number>();

  constructor(
    private readonly durationMs: number,
    private readonly now = (): number => performance.now(),
    private readonly maxCount = MAX_VISIT_COUNT,
  ) {}

  /** Adds a visit. Returns `false`, and changes nothing, if it was added within the duration before. */
  add(visit: string): boolean {
    const now = this.now();
    for (const [oldest, end] of this.ends) {
      if (end > now && this.ends.size < this.maxCount) break;
      this.ends.delete(oldest);
    }
    if (this.ends.has(visit)) return false;
    this.ends.set(visit, now + this.durationMs);
    return true;
  }
}
