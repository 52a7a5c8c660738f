import { LRUCache } from 'lru-cache';
import { MIN_CLICK_INTERVAL_MS } from '../../core/limits.ts';

/**
 * The maximum number of counted visits that are kept. With more, the oldest are evicted early, and their visitors can
 * count again. So many visits take about 50 MB.
 */
export const MAX_VISIT_COUNT = 400_000;

/**
 * Adds a visit that all processes share, and resolves to whether it is new. Without this function, each process
 * recognizes only visits that it has counted itself.
 */
export type AddSharedVisit = (visit: string) => Promise<boolean>;

/** Recognizes repeated visits of a visitor to a link. */
export class ClickDeduplication {
  /** The visits that this process has counted. */
  private readonly visits = new LRUCache<string, true>({
    max: MAX_VISIT_COUNT,
    ttl: MIN_CLICK_INTERVAL_MS,
    ttlResolution: 0,
  });

  constructor(private readonly addSharedVisit: AddSharedVisit | undefined) {}

  /** Adds a visit, which is the hash of a visitor and a link. Returns whether it is not a repeated one. */
  async add(visit: string): Promise<boolean> {
    if (this.visits.has(visit)) return false;
    // If the shared visits are unavailable, each process decides for itself.
    const isNew = await this.addSharedVisit?.(visit).catch(() => true);
    if (isNew === false || this.visits.has(visit)) return false;
    this.visits.set(visit, true);
    return true;
  }
}
