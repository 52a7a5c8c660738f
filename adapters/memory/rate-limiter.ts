import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimiter, toUsage } from '../../core/access/rate-limiter.ts';

/** Counts in this process alone. */
export function memoryRateLimiter(limit: number, windowSeconds: number): RateLimiter {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
  return {
    async consume(key) {
      // The library rejects with its result, no Error, where the limit is passed.
      const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch((rejected: unknown) => {
        if (rejected instanceof RateLimiterRes) return rejected;
        throw rejected;
      });
      return toUsage(consumedPoints, msBeforeNext, limit, windowSeconds);
    },
  };
}
