import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { LinkService } from '../../core/link/link-service.ts';

/** The number of characters of a hash that are kept: 132 bits. */
const HASH_LENGTH = 22;

/**
 * Hashes visitors with the visitor key of the day, a random secret that all processes share for one day. So addresses
 * are neither stored nor sent to Redis.
 */
export class VisitorHash {
  /** The visitor key, until its day ends. */
  private readonly keys: LRUCache<'current', string>;
  /** Used while the visitor key cannot be read. */
  private readonly ownKey = randomBytes(32).toString('hex');

  constructor(links: Pick<LinkService, 'getVisitorKey'>) {
    this.keys = new LRUCache({
      max: 1,
      ttlResolution: 0,
      fetchMethod: async (_, __, { options }) => {
        const { key, remainingMs } = await links.getVisitorKey();
        options.ttl = remainingMs;
        return key;
      },
    });
  }

  /** Returns the hash of a text that identifies a visitor, such as an address. */
  async hash(visitor: string): Promise<string> {
    const key = this.keys.get('current') ?? (await this.keys.forceFetch('current').catch(() => this.ownKey));
    return createHmac('sha256', key).update(visitor).digest('base64url').slice(0, HASH_LENGTH);
  }
}
