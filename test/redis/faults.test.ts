import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { RedisRateLimiters } from '../../adapters/redis/rate-limiter.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import { startRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';

const LIMIT = 1_000_000;
const CLIENTS = 20;

interface Fixture {
  readonly redis: Awaited<ReturnType<typeof startRedis>>;
  readonly counter: RedisRateLimiters;
  readonly limiter: RateLimiter;
  readonly lines: readonly string[];
}

async function withRedis(test: (world: Fixture) => Promise<void>): Promise<void> {
  const redis = await startRedis();
  const lines: string[] = [];
  const counter = new RedisRateLimiters(redis.url, (line) => lines.push(line));
  try {
    await counter.open();
    const limiter = counter.rateLimiter('test', LIMIT, 60, createMemoryRateLimiter(LIMIT, 60));
    await test({ redis, lines, counter, limiter });
  } finally {
    await counter.close();
    await redis.stop();
  }
}

/** Counts for many clients again and again until it is so; fails where one request fails, or it takes ten seconds. */
async function countUntil({ limiter }: Fixture, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, 'it is not so after ten seconds');
    await Promise.all(Array.from({ length: CLIENTS }, () => limiter.consume('key')));
    await setTimeout(1);
  }
}

/** Whether a request is counted by Redis: it goes on from what was counted there. */
async function isShared({ counter, limiter }: Fixture): Promise<boolean> {
  const { test: before } = counter.fallbacks;
  await limiter.consume('key');
  return counter.fallbacks.test === before;
}

suite('a limiter whose Redis fails', {
  'counts alone while it is frozen, and together again when it goes on': () =>
    withRedis(async (world) => {
      const { redis, lines } = world;
      await countUntil(world, () => isShared(world));
      redis.freeze();
      await countUntil(world, () => lines.length === 1);
      assert.match(lines[0] as string, /Redis is away/);
      assert.equal(await isShared(world), false);
      redis.thaw();
      await countUntil(world, () => isShared(world));
      assert.match(lines[1] as string, /Redis is back/);
    }),

  'counts alone while it is gone, and together again when it is there': () =>
    withRedis(async (world) => {
      const { redis, lines } = world;
      await redis.kill();
      await countUntil(world, () => lines.length === 1);
      assert.equal(await isShared(world), false);
      await redis.start();
      await countUntil(world, () => isShared(world));
      assert.equal(lines.length, 2);
    }),

  'counts alone while it answers with errors, and says why once': () =>
    withRedis(async (world) => {
      const { redis, lines, counter } = world;
      const client = new Redis(redis.url);
      await client.config('SET', 'maxmemory', '1');
      const connections = async () => Number(/connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
      const before = await connections();
      await countUntil(world, async () => (await connections()) > before + 3);
      assert.equal(lines.filter((line) => line.includes('away')).length, 1);
      assert.match(lines[0] as string, /^Redis is away \((?:ERR Error running script .*: -)?OOM command not allowed /);
      await client.config('SET', 'maxmemory', '0');
      await countUntil(world, () => isShared(world));
      assert.equal(counter.isUp, true);
      client.disconnect();
    }),

  'opens where there is none, and counts alone': async () => {
    const counter = new RedisRateLimiters('redis://127.0.0.1:1', () => undefined);
    try {
      await counter.open();
      const limiter = counter.rateLimiter('test', 1, 60, createMemoryRateLimiter(1, 60));
      assert.equal((await limiter.consume('key')).allowed, true);
      assert.equal((await limiter.consume('key')).allowed, false);
    } finally {
      await counter.close();
    }
  },
});
