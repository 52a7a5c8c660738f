import type { IncomingMessage } from 'node:http';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { MIN_CLICK_INTERVAL_MS } from '../../core/limits.ts';
import { findReasonNotToCount } from '../../core/link/click.ts';
import type { Link } from '../../core/link/link.ts';
import type { ClickBatcher } from './click-batcher.ts';
import type { VisitorHash } from './visitor-hash.ts';

/**
 * The result of a GET request that is redirected to a destination: a counted click, or the reason why it is not
 * counted. HEAD requests are redirected without a result.
 */
export const CLICK_RESULTS = ['counted', 'bot', 'prefetch', 'repeated', 'full'] as const;
export type ClickResult = (typeof CLICK_RESULTS)[number];

/**
 * The maximum number of counted visits that are kept. With more, the oldest are evicted early, and their visitors can
 * count again. So many visits take about 50 MB.
 */
export const MAX_VISIT_COUNT = 400_000;
/** Whether the user agents that were checked last are bots. Without this cache, `isbot` would slow redirects down. */
const bots = new LRUCache<string, boolean>({
  maxSize: 500_000,
  sizeCalculation: (_, userAgent) => userAgent.length,
  memoMethod: (userAgent) => isbot(userAgent),
});
/** The maximum number of visits that are being recorded. Further clicks are not counted. */
const MAX_PENDING_COUNT = 10_000;

/**
 * Adds a visit that all processes share, and resolves to whether it is new. Without this function, each process
 * recognizes only visits that it has counted itself.
 */
export type AddSharedVisit = (visit: string) => Promise<boolean>;

/** Decides which redirects are clicks, and counts them. It delays no response. */
export class ClickRecorder {
  /** The visits that this process has counted. */
  private readonly visits = new LRUCache<string, true>({
    max: MAX_VISIT_COUNT,
    ttl: MIN_CLICK_INTERVAL_MS,
    ttlResolution: 0,
  });
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly batcher: Pick<ClickBatcher, 'add'>,
    private readonly visitors: VisitorHash,
    private readonly addSharedVisit: AddSharedVisit | undefined,
    private readonly onClick: (result: ClickResult) => void,
  ) {}

  /**
   * Records that a request was redirected to the destination of a link. `getAddress` returns the address of the client.
   */
  record(request: IncomingMessage, link: Link, getAddress: () => string): void {
    const userAgent = request.headers['user-agent'] ?? '';
    const reason = findReason(request, userAgent) ?? (this.pending.size >= MAX_PENDING_COUNT ? 'full' : undefined);
    if (reason) {
      this.onClick(reason);
      return;
    }
    const recording = this.recordVisit(link, getAddress(), userAgent).finally(() => this.pending.delete(recording));
    this.pending.add(recording);
  }

  /** Resolves when no visit is being recorded. */
  async settle(): Promise<void> {
    await Promise.all(this.pending);
  }

  private async recordVisit(link: Link, address: string, userAgent: string): Promise<void> {
    const isNew = await this.addVisit(await this.visitors.hash(`${link.key} ${address} ${userAgent}`));
    this.onClick(!isNew ? 'repeated' : this.batcher.add(link) ? 'counted' : 'full');
  }

  /** Adds a visit. Returns whether it is the first one within an hour. */
  private async addVisit(visit: string): Promise<boolean> {
    if (this.visits.has(visit)) return false;
    // If the shared visits are unavailable, each process decides for itself.
    const isNew = await this.addSharedVisit?.(visit).catch(() => true);
    if (isNew === false || this.visits.has(visit)) return false;
    this.visits.set(visit, true);
    return true;
  }
}

/** Returns the reason why a request is not a click of a person, or `undefined` if it is one. */
function findReason({ headers }: IncomingMessage, userAgent: string): ReturnType<typeof findReasonNotToCount> {
  const purposes = [headers.purpose, headers['x-purpose'], headers['x-moz'], headers['sec-purpose']];
  return findReasonNotToCount({ userAgent, purposes: purposes.map(String) }, (agent) => bots.memo(agent));
}
