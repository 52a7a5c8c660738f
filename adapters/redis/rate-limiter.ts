import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimiter, toUsage, type Usage } from '../../core/access/rate-limiter.ts';
import { EventLoopTimeout } from './event-loop-timeout.ts';

/** A Redis that is away fails a command at once: nothing is queued or sent again, and it is looked for all the time. */
const OPTIONS = {
  connectionName: 'workspace-advocacy',
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 500,
  socketTimeout: 2_000,
  retryStrategy: () => 250,
};
const TIMEOUT_MS = 100;
/**
 * Extends the script of the library: a key that would live longer than a window, because Redis' clock was set back, gets a
 * new window. The script gets the key, the points and the seconds of a window.
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
const MAX_FAILURE_COUNT = 3;
const LOG_INTERVAL_MS = 10_000;

/** The Redis that counts for every process. */
export class RedisRateLimiters {
  private readonly redis: Redis;
  private readonly patience = new EventLoopTimeout(TIMEOUT_MS);
  private failures = 0;
  private isAway = false;
  private isToldAway = false;
  private toldAt = Number.NEGATIVE_INFINITY;
  private readonly fallbackCounts: Record<string, number> = {};

  /** Connects by itself as soon as Redis is there; `tell` gets a line when it is away, and when it is back, every ten seconds at the most. */
  constructor(
    url: string,
    private readonly tell: (line: string) => void,
  ) {
    this.redis = new Redis(url, OPTIONS);
    this.redis.on('error', ({ message }) => this.onUnavailable(message));
    this.redis.on('close', () => this.onUnavailable('the connection ended'));
    this.redis.on('ready', () => this.onAvailable());
  }

  /** Whether it counts, as long as nobody knows better; otherwise each process counts by itself. */
  get isUp(): boolean {
    return this.redis.status === 'ready';
  }

  /** How many requests each limiter has counted without it, by the limiter's name. */
  get fallbacks(): Readonly<Record<string, number>> {
    return this.fallbackCounts;
  }

  /** Resolves when it is connected, or when the first attempt has failed. */
  async open(): Promise<void> {
    if (this.isUp || this.isAway) return;
    await new Promise<void>((resolve) => {
      for (const event of ['ready', 'error', 'close']) this.redis.once(event, () => resolve());
    });
  }

  /**
   * Counts for all processes under a name, and by `alone` while Redis is away: a request waits for it a tenth of a
   * second at the most. After three that waited in vain the connection is made anew, and nobody waits meanwhile.
   */
  rateLimiter(name: string, limit: number, windowSeconds: number, alone: RateLimiter): RateLimiter {
    const limiter = new RateLimiterRedis({
      storeClient: this.redis,
      keyPrefix: `advocacy:${name}`,
      points: limit,
      duration: windowSeconds,
      customIncrTtlLuaScript: COUNT_SCRIPT,
    });
    const consume = async (key: string): Promise<Usage> => {
      const { consumedPoints, msBeforeNext } = await this.patience.with(counted(limiter.consume(key)));
      this.failures = 0;
      return toUsage(consumedPoints, msBeforeNext, limit, windowSeconds);
    };
    this.fallbackCounts[name] = 0;
    const fallBack = (key: string) => {
      this.fallbackCounts[name] = (this.fallbackCounts[name] ?? 0) + 1;
      return alone.consume(key);
    };
    return {
      consume: async (key) => {
        if (!this.isUp) return fallBack(key);
        try {
          return await consume(key);
        } catch (error) {
          this.noteFailure(error as Error);
          return fallBack(key);
        }
      },
    };
  }

  async close(): Promise<void> {
    this.redis.removeAllListeners();
    this.redis.on('error', () => 'it is of no interest any more');
    this.redis.disconnect();
    this.patience.end();
  }

  private noteFailure({ message }: Error): void {
    this.failures++;
    if (this.failures < MAX_FAILURE_COUNT) return;
    this.failures = 0;
    this.redis.stream.destroy(new Error(message));
  }

  private onUnavailable(why: string): void {
    if (this.isAway) return;
    this.isAway = true;
    if (performance.now() - this.toldAt < LOG_INTERVAL_MS) return;
    this.toldAt = performance.now();
    this.isToldAway = true;
    this.tell(`Redis is away (${why}): each process counts by itself`);
  }

  private onAvailable(): void {
    this.failures = 0;
    this.isAway = false;
    if (this.isToldAway) this.tell('Redis is back: all processes count together');
    this.isToldAway = false;
  }
}

/** The library rejects with its result, no Error, where the limit is passed. */
function counted(consuming: Promise<RateLimiterRes>): Promise<RateLimiterRes> {
  return consuming.catch((rejected: unknown) => {
    if (rejected instanceof RateLimiterRes) return rejected;
    throw rejected;
  });
}
