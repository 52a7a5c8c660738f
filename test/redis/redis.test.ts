import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { RedisRateLimiters } from '../../adapters/redis/rate-limiter.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import { startRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';

const LIMIT = 1_000_000;
const CLIENT_COUNT = 20;

interface Context {
  readonly redis: Awaited<ReturnType<typeof startRedis>>;
  readonly limiters: RedisRateLimiters;
  readonly limiter: RateLimiter;
  /** Returns how many requests the limiter counted without Redis. */
  readonly getFallbackCount: () => number;
  /** The lines that the rate limiters have logged. */
  readonly lines: readonly string[];
}

async function withRedis(test: (context: Context) => Promise<void>): Promise<void> {
  const redis = await startRedis();
  const lines: string[] = [];
  const limiters = new RedisRateLimiters(redis.url, (line) => lines.push(line));
  try {
    await limiters.open();
    const memoryLimiter = createMemoryRateLimiter(LIMIT, 60);
    let fallbackCount = 0;
    const limiter = limiters.createRateLimiter('requests', LIMIT, 60, {
      consume(key) {
        fallbackCount++;
        return memoryLimiter.consume(key);
      },
    });
    await test({ redis, lines, limiters, limiter, getFallbackCount: () => fallbackCount });
  } finally {
    await limiters.close();
    await redis.stop();
  }
}

/**
 * Lets the limiter count simultaneous requests until a condition holds. Fails after ten seconds, or if a request cannot
 * be counted.
 */
async function consumeUntil({ limiter }: Context, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, 'the condition does not hold after ten seconds');
    await Promise.all(Array.from({ length: CLIENT_COUNT }, () => limiter.consume('key')));
    await setTimeout(1);
  }
}

/** Counts a request, and returns whether Redis counted it. Otherwise, the process counted it on its own. */
async function isCountedByRedis({ limiter, getFallbackCount }: Context): Promise<boolean> {
  const countBefore = getFallbackCount();
  await limiter.consume('key');
  return getFallbackCount() === countBefore;
}

const HOUR_MS = 3_600_000;

suite('visits in Redis', {
  'are added once, and again when they have expired': () =>
    withRedis(async ({ redis, limiters }) => {
      const other = new RedisRateLimiters(redis.url, () => undefined);
      await other.open();
      const added: boolean[] = [];
      for (const process of [limiters, other, limiters]) added.push(await process.createVisits(HOUR_MS, 9)('a'));
      assert.deepEqual(added, [true, false, false]);
      const addBriefly = limiters.createVisits(1, 9);
      await addBriefly('b');
      await setTimeout(2);
      assert.equal(await addBriefly('b'), true);
      await other.close();
    }),

  'do not take the memory of the counts of requests': () =>
    withRedis(async (context) => {
      const { redis, limiters } = context;
      const client = new Redis(redis.url);
      await consumeUntil(context, () => isCountedByRedis(context));
      const count = await client.get('advocacy:requests:key');
      const readMemory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
      const before = await readMemory();
      await client.config('SET', 'maxmemory', String(before + 4_000_000), 'maxmemory-policy', 'noeviction');
      const add = limiters.createVisits(HOUR_MS, 10_000);
      for (let i = 0; i < 400; i++) {
        await Promise.all(Array.from({ length: 100 }, (_, j) => add(`${i} ${j}`.padStart(22)).catch(() => undefined)));
      }
      assert.equal(await client.zcard('advocacy:visits'), 10_000);
      assert.ok((await readMemory()) - before < 2_000_000);
      assert.equal(await client.get('advocacy:requests:key'), count);
      client.disconnect();
    }),
});

suite('a rate limiter whose Redis fails', {
  'counts on its own while Redis returns errors, and logs the reason once': () =>
    withRedis(async (context) => {
      const { redis, lines, limiters } = context;
      const client = new Redis(redis.url);
      await client.config('SET', 'maxmemory', '1');
      // The limiter reconnects after three failures. So the test waits until it has reconnected several times.
      const countConnections = async () => Number(/connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
      const before = await countConnections();
      await consumeUntil(context, async () => (await countConnections()) > before + 3);
      assert.equal(lines.filter((line) => line.includes('unavailable')).length, 1);
      assert.match(
        lines[0] as string,
        /^Redis is unavailable: (?:ERR Error running script .*: -)?OOM command not allowed /,
      );
      await client.config('SET', 'maxmemory', '0');
      await consumeUntil(context, () => isCountedByRedis(context));
      assert.equal(limiters.isUp, true);
      client.disconnect();
    }),

  'counts in Redis even if the event loop is blocked for longer than the timeout for Redis': () =>
    withRedis(async (context) => {
      for (let i = 0; i < 5; i++) {
        const counted = isCountedByRedis(context);
        for (const end = Date.now() + 300; Date.now() < end; );
        assert.equal(await counted, true);
      }
    }),

  'can be opened without Redis, and then counts on its own': async () => {
    const limiters = new RedisRateLimiters('redis://127.0.0.1:1', () => undefined);
    try {
      await limiters.open();
      const limiter = limiters.createRateLimiter('requests', 1, 60, createMemoryRateLimiter(1, 60));
      assert.equal((await limiter.consume('key')).allowed, true);
      assert.equal((await limiter.consume('key')).allowed, false);
    } finally {
      await limiters.close();
    }
  },
});
