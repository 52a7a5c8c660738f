import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimiter, toUsage } from '../../core/access/rate-limiter.ts';

/** Creates a rate limiter that counts only the requests of this process. */
export function createMemoryRateLimiter(limit: number, windowSeconds: number): RateLimiter {
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
  return {
    async consume(key) {
      // If the limit is exceeded, the library rejects with its result, which is not an Error.
      const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch((rejected: unknown) => {
        if (rejected instanceof RateLimiterRes) return rejected;
        throw rejected;
      });
      return toUsage(consumedPoints, msBeforeNext, limit, windowSeconds);
    },
  };
}
