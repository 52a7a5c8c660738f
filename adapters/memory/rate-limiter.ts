import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';

/** Counts in this process alone. */
export function memoryRateLimiter(limit: number, windowSeconds: number): RateLimiter {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
  return {
    async consume(key) {
      // The library rejects with its result, no Error, where the limit is passed.
      const result = await limiter.consume(key).catch((rejected: unknown) => {
        if (rejected instanceof RateLimiterRes) return rejected;
        throw rejected;
      });
      return {
        allowed: result.consumedPoints <= limit,
        limit,
        windowSeconds,
        remaining: Math.max(0, result.remainingPoints),
        resetsIn: Math.max(0, result.msBeforeNext),
      };
    },
  };
}
