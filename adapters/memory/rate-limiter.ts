import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimiter, toUsage } from '../../core/access/rate-limiter.ts';

/**
 * The maximum number of keys that are counted at the same time. If there are more, the count of the key whose last
 * request is the oldest is dropped. Requests over the limit count as well, so an address needs this many other
 * addresses to get rid of its count.
 */
const MAX_KEY_COUNT = 50_000;

/** Creates a rate limiter that counts only the requests of this process. */
export function createMemoryRateLimiter(limit: number, windowSeconds: number): RateLimiter {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
  const keys = new LRUCache<string, true>({
    max: MAX_KEY_COUNT,
    noDisposeOnSet: true,
    dispose: (_, key) => void limiter.delete(key),
  });
  return {
    async consume(key) {
      keys.set(key, true);
      // If the limit is exceeded, the library rejects with its result, which is not an Error.
      const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch((rejected: unknown) => {
        if (rejected instanceof RateLimiterRes) return rejected;
        throw rejected;
      });
      return toUsage(consumedPoints, msBeforeNext, limit, windowSeconds);
    },
  };
}
