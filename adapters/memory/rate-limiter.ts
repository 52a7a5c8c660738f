import { LRUCache } from 'lru-cache';
import { type RateLimiter, toUsage } from '../../core/access/rate-limiter.ts';

/**
 * The maximum number of keys that are counted at the same time. If there are more, the count of the key that has not been used for the
 * longest time is dropped. Requests that exceed the limit are uses, too, so an address cannot get rid of its count by waiting.
 */
const MAX_KEY_COUNT = 50_000;

/** Creates a rate limiter that counts only the requests of this process. */
export function createMemoryRateLimiter(limit: number, windowSeconds: number): RateLimiter {
  const windows = new LRUCache<string, { count: number; readonly endsAt: number }>({ max: MAX_KEY_COUNT });
  return {
    async consume(key) {
      const now = performance.now();
      let window = windows.get(key);
      if (!window || window.endsAt <= now) {
        window = { count: 0, endsAt: now + windowSeconds * 1_000 };
        windows.set(key, window);
      }
      return toUsage(++window.count, window.endsAt - now, limit, windowSeconds);
    },
  };
}
