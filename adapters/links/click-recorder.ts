import type { IncomingMessage } from 'node:http';
import { isbot } from 'isbot';
import { findReasonNotToCount } from '../../core/link/click.ts';
import type { Link } from '../../core/link/link.ts';
import type { ClickBatcher } from './click-batcher.ts';
import { RecentVisits } from './recent-visits.ts';
import type { VisitorHash } from './visitor-hash.ts';

/**
 * The result of a GET request that is redirected to a destination: a counted click, or the reason why it is not counted.
 * HEAD requests are redirected without a result.
 */
export const CLICK_RESULTS = ['counted', 'bot', 'prefetch', 'repeated', 'full'] as const;
export type ClickResult = (typeof CLICK_RESULTS)[number];

/** The maximum number of visits that are being recorded. Further clicks are not counted. */
const MAX_PENDING_COUNT = 10_000;

/**
 * Adds a visit that all processes share, and resolves to whether it is new. Without this function, each process
 * recognizes only visits that it has counted itself.
 */
export type AddSharedVisit = (visit: string) => Promise<boolean>;

/** Decides which redirects are clicks, and counts them. It delays no response. */
export class ClickRecorder {
  private readonly visits = new RecentVisits();
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly batcher: Pick<ClickBatcher, 'add'>,
    private readonly visitors: VisitorHash,
    private readonly addSharedVisit: AddSharedVisit | undefined,
    private readonly onClick: (result: ClickResult) => void,
  ) {}

  /** Records that a request was redirected to the destination of a link. `getAddress` returns the address of the client. */
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
    return isNew !== false && this.visits.add(visit);
  }
}

/** Returns the reason why a request is not a click of a person, or `undefined` if it is one. */
function findReason({ headers }: IncomingMessage, userAgent: string): ReturnType<typeof findReasonNotToCount> {
  const purposes = [headers.purpose, headers['x-purpose'], headers['x-moz'], headers['sec-purpose']];
  return findReasonNotToCount({ isBot: userAgent === '' || isbot(userAgent), purposes: purposes.map(String) });
}
