import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimiter, toUsage, type Usage } from '../../core/access/rate-limiter.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { removeFinalPeriod } from '../../core/shared/text.ts';
import { OutageLog } from '../logging/outage-log.ts';

/** While Redis is unavailable, a command fails immediately: it is neither queued nor retried. The client keeps reconnecting. */
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
 * The script of the library with one addition. If the clock of Redis was set back, the key would live longer than a window. Then the
 * script shortens the TTL of the key to one window. The arguments are the key, the points to add and the length of a window in seconds.
 */
const COUNT_SCRIPT = `
redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local consumed = redis.call('incrby', KEYS[1], ARGV[1])
local ttl = redis.call('pttl', KEYS[1])
local window = 1000 * ARGV[2]
if ttl == -1 or ttl > window then
  redis.call('pexpire', KEYS[1], window)
  ttl = window
end
return {consumed, ttl}
`;
/** The number of consecutive failures after which the client reconnects. */
const MAX_FAILURE_COUNT = 3;

/** Rate limiters whose counts are in Redis, so that all processes share them. */
export class RedisRateLimiters {
  private readonly redis: Redis;
  private failureCount = 0;
  private isUnavailable = false;
  private readonly outageLog: OutageLog;
  private readonly fallbackCounts: Record<string, number> = {};

  /** Starts to connect, and reconnects after outages. `log` gets a line when an outage begins and when it ends (`OutageLog`). */
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

  /** The number of requests that were counted without Redis, by the name of the rate limiter. */
  get fallbacks(): Readonly<Record<string, number>> {
    return this.fallbackCounts;
  }

  /** Resolves when the client is connected, or when the first attempt has failed. */
  async open(): Promise<void> {
    if (this.isUp || this.isUnavailable) return;
    await new Promise<void>((resolve) => {
      for (const event of ['ready', 'error', 'close']) this.redis.once(event, () => resolve());
    });
  }

  /**
   * Creates a rate limiter whose count all processes share under `name`. A request waits for Redis for at most 100 ms. If Redis does not
   * count a request, the rate limiter `fallback` does. After three consecutive failures, the client reconnects, and no request waits for
   * Redis until the client is connected.
   */
  createRateLimiter(name: string, limit: number, windowSeconds: number, fallback: RateLimiter): RateLimiter {
    const limiter = new RateLimiterRedis({
      storeClient: this.redis,
      keyPrefix: `advocacy:${name}`,
      points: limit,
      duration: windowSeconds,
      customIncrTtlLuaScript: COUNT_SCRIPT,
    });
    const consume = async (key: string): Promise<Usage> => {
      const { consumedPoints, msBeforeNext } = await withTimeout(resolveIfLimited(limiter.consume(key)));
      this.failureCount = 0;
      return toUsage(consumedPoints, msBeforeNext, limit, windowSeconds);
    };
    this.fallbackCounts[name] = 0;
    const consumeFallback = (key: string) => {
      this.fallbackCounts[name] = (this.fallbackCounts[name] ?? 0) + 1;
      return fallback.consume(key);
    };
    return {
      consume: async (key) => {
        if (!this.isUp) return consumeFallback(key);
        try {
          return await consume(key);
        } catch (error) {
          this.recordFailure(error as Error);
          return consumeFallback(key);
        }
      },
    };
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

/** If the limit is exceeded, the library rejects with the result. This function resolves to the result in that case, too. */
function resolveIfLimited(consuming: Promise<RateLimiterRes>): Promise<RateLimiterRes> {
  return consuming.catch((rejected: unknown) => {
    if (rejected instanceof RateLimiterRes) return rejected;
    throw rejected;
  });
}

/** Settles as a command does. Rejects if the command takes longer than `TIMEOUT_MS`. */
function withTimeout<T>(command: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // After the event loop was blocked, it runs timers, reads the responses that have arrived, and calls the callback of `setImmediate`,
    // in this order. So a response that has arrived still counts.
    const timer = setTimeout(() => setImmediate(reject, new Error('no response')), TIMEOUT_MS);
    command.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
