import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimiter, toUsage } from '../../core/access/rate-limiter.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { removeFinalPeriod } from '../../core/shared/text.ts';
import { OutageLog } from '../logging/outage-log.ts';
import { withTimeout } from '../node/with-timeout.ts';

/**
 * While Redis is unavailable, a command fails immediately: it is neither queued nor retried. The client keeps
 * reconnecting.
 */
const CLIENT_OPTIONS = {
  connectionName: 'workspace-advocacy',
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 500,
  socketTimeout: 2_000,
  retryStrategy: () => 250,
};
const TIMEOUT_MS = 100;
/**
 * Adds a visit to a sorted set, with the time at which the visit expires as its score. Each call removes up to two
 * visits that have expired or are too many, so no call takes long. A visit that expires later than one TTL from now was
 * added before the clock of Redis was set back, and counts as expired. The arguments are the key, the visit, the TTL in
 * milliseconds and the maximum number of visits. Returns 1 if the visit was added, and 0 if it had been added before.
 */
const VISIT_SCRIPT = `
local key, visit, ttl, max = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expiry = tonumber(redis.call('zscore', key, visit) or 0)
if expiry > now and expiry <= now + ttl then return 0 end
redis.call('zadd', key, now + ttl, visit)
for _ = 1, 2 do
  local oldest = redis.call('zrange', key, 0, 0, 'withscores')
  if tonumber(oldest[2]) > now and redis.call('zcard', key) <= max then break end
  redis.call('zrem', key, oldest[1])
end
return 1
`;
/** The number of consecutive failures after which the client reconnects. */
const MAX_FAILURE_COUNT = 3;

/** Rate limiters and visits that are in Redis, so that all processes share them. */
export class RedisRateLimiters {
  private readonly redis: Redis;
  private failureCount = 0;
  private isUnavailable = false;
  private readonly outageLog: OutageLog;

  /**
   * Starts to connect, and reconnects after outages. `log` gets a line when an outage begins and when it ends
   * (`OutageLog`).
   */
  constructor(url: string, log: (line: string) => void) {
    this.outageLog = new OutageLog(log);
    this.redis = new Redis(url, CLIENT_OPTIONS);
    this.redis.on('error', ({ message }) => this.onUnavailable(message));
    this.redis.on('close', () => this.onUnavailable('the connection was closed'));
    this.redis.on('ready', () => this.onAvailable());
  }

  /** Whether Redis is connected. If not, each process counts on its own. */
  get isUp(): boolean {
    return this.redis.status === 'ready';
  }

  /** Resolves when the client is connected, or when the first attempt has failed. */
  async open(): Promise<void> {
    if (this.isUp || this.isUnavailable) return;
    await new Promise<void>((resolve) => {
      for (const event of ['ready', 'error', 'close']) this.redis.once(event, () => resolve());
    });
  }

  /**
   * Creates a rate limiter whose count all processes share under `name`. If Redis does not count a request, the rate
   * limiter `fallback` does.
   */
  createRateLimiter(name: string, limit: number, windowSeconds: number, fallback: RateLimiter): RateLimiter {
    const limiter = new RateLimiterRedis({
      storeClient: this.redis,
      keyPrefix: `advocacy:${name}`,
      points: limit,
      duration: windowSeconds,
    });
    return {
      consume: async (key) => {
        try {
          const { consumedPoints, msBeforeNext } = await this.run(() => resolveIfLimited(limiter.consume(key)));
          return toUsage(consumedPoints, msBeforeNext, limit, windowSeconds);
        } catch {
          return fallback.consume(key);
        }
      },
    };
  }

  /**
   * Returns a function that adds a visit for `ttlMs`, unless another process has added it. It resolves to whether the
   * visit was added, and rejects if Redis is unavailable. With more than `maxCount` visits, the oldest are removed, so
   * that visits and counts together fit into the memory of Redis.
   */
  createVisits(ttlMs: number, maxCount: number): (visit: string) => Promise<boolean> {
    return async (visit) => {
      const added = await this.run(() => this.redis.eval(VISIT_SCRIPT, 1, 'advocacy:visits', visit, ttlMs, maxCount));
      return added === 1;
    };
  }

  /**
   * Runs a command. Rejects after 100 ms, or at once if Redis is not connected. After three consecutive failures, the
   * client reconnects, so no request waits for Redis until the client is connected.
   */
  private async run<T>(command: () => Promise<T>): Promise<T> {
    if (!this.isUp) throw new Error('not connected');
    try {
      const result = await withTimeout(command(), TIMEOUT_MS, () => new Error('no response'));
      this.failureCount = 0;
      return result;
    } catch (error) {
      this.recordFailure(error as Error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.redis.removeAllListeners();
    // Without a listener, ioredis would print errors that occur from now on.
    this.redis.on('error', doNothing);
    this.redis.disconnect();
  }

  private recordFailure({ message }: Error): void {
    this.failureCount++;
    if (this.failureCount < MAX_FAILURE_COUNT) return;
    this.failureCount = 0;
    this.redis.stream.destroy(new Error(message));
  }

  private onUnavailable(reason: string): void {
    if (this.isUnavailable) return;
    this.isUnavailable = true;
    const problem = `Redis is unavailable: ${removeFinalPeriod(reason)}.`;
    this.outageLog.logFailure(
      `${problem} Each process counts requests on its own. Check Redis and REDIS_URL. Retrying.`,
    );
  }

  private onAvailable(): void {
    this.failureCount = 0;
    this.isUnavailable = false;
    this.outageLog.logEnd('Redis is available again. All processes share their counts of requests.');
  }
}

/** Resolves to the result also if the limit is exceeded, when the library rejects with it. */
function resolveIfLimited(consuming: Promise<RateLimiterRes>): Promise<RateLimiterRes> {
  return consuming.catch((rejected: unknown) => {
    if (rejected instanceof RateLimiterRes) return rejected;
    throw rejected;
  });
}
