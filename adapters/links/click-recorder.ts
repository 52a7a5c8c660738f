import type { IncomingMessage } from 'node:http';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { findReasonNotToCount } from '../../core/link/click.ts';
import type { Link } from '../../core/link/link.ts';
import type { ClickBatcher } from './click-batcher.ts';
import type { ClickDeduplication } from './click-deduplication.ts';
import type { VisitorHash } from './visitor-hash.ts';

/**
 * The result of a GET request that is redirected to a destination: a counted click, or the reason why it is not
 * counted. HEAD requests are redirected without a result.
 */
export type ClickResult = 'counted' | 'bot' | 'prefetch' | 'repeated' | 'full';

/** Whether the user agents that were checked last are bots. Without this cache, `isbot` would slow redirects down. */
const bots = new LRUCache<string, boolean>({
  maxSize: 500_000,
  sizeCalculation: (_, userAgent) => userAgent.length,
  memoMethod: (userAgent) => isbot(userAgent),
});
/** The maximum number of visits that are being recorded. Further clicks are not counted. */
const MAX_PENDING_COUNT = 10_000;

/** Decides which redirects are clicks, and counts them. It delays no response. */
export class ClickRecorder {
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly batcher: Pick<ClickBatcher, 'add'>,
    private readonly visitors: VisitorHash,
    private readonly deduplication: ClickDeduplication,
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
    const isNew = await this.deduplication.add(await this.visitors.hash(`${link.key} ${address} ${userAgent}`));
    this.onClick(!isNew ? 'repeated' : this.batcher.add(link) ? 'counted' : 'full');
  }
}

/** Returns the reason why a request is not a click of a person, or `undefined` if it is one. */
function findReason({ headers }: IncomingMessage, userAgent: string): 'bot' | 'prefetch' | undefined {
  const purposes = [headers.purpose, headers['x-purpose'], headers['x-moz'], headers['sec-purpose']];
  return findReasonNotToCount(userAgent, purposes.map(String), (agent) => bots.memo(agent));
}
