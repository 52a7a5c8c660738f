import type { Logger } from 'pino';
import type { IsUp } from '../adapters/prometheus/metrics.ts';
import type { RateLimiter } from '../core/access/rate-limiter.ts';
import type { Settings } from './settings.ts';
import type { Connection } from './storages.ts';

interface RateLimiterChoice {
  /** The name of the setting that says where the counts are. It has no effect with another rate limiter. */
  readonly locationSetting?: 'REDIS_URL';
  /** Loads the adapter. */
  create(settings: Settings, log: Logger): Promise<CreatedRateLimiters>;
}

export interface CreatedRateLimiters {
  /** Creates a rate limiter. If processes share counts, their rate limiters of the same name use the same counts. */
  createRateLimiter(name: string, limit: number, windowSeconds: number): RateLimiter;
  /** Returns a function that adds a visit that all processes share, and resolves to whether it is new. */
  createVisits?(ttlMs: number, maxCount: number): (visit: string) => Promise<boolean>;
  readonly connection?: Connection;
  readonly isUp?: IsUp;
}

/** The rate limiters by the values of `RATE_LIMITER`. */
export const rateLimiters: Readonly<Record<Settings['RATE_LIMITER'], RateLimiterChoice>> = {
  memory: {
    async create() {
      const { createMemoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
      return { createRateLimiter: (_name, limit, windowSeconds) => createMemoryRateLimiter(limit, windowSeconds) };
    },
  },
  redis: {
    locationSetting: 'REDIS_URL',
    async create({ REDIS_URL }, log) {
      const { RedisRateLimiters } = await import('../adapters/redis/rate-limiter.ts');
      const { createMemoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
      const redis = new RedisRateLimiters(REDIS_URL, (line) => log.warn(line));
      return {
        createRateLimiter: (name, limit, windowSeconds) =>
          redis.createRateLimiter(name, limit, windowSeconds, createMemoryRateLimiter(limit, windowSeconds)),
        createVisits: (ttlMs, maxCount) => redis.createVisits(ttlMs, maxCount),
        connection: redis,
        isUp: () => redis.isUp,
      };
    },
  },
};
