import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { memoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { RedisCounter, type RedisRateLimiter } from '../../adapters/redis/rate-limiter.ts';
import { startRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';

const LIMIT = 1_000_000;
const CLIENTS = 20;

interface World {
  readonly redis: Awaited<ReturnType<typeof startRedis>>;
  readonly limiter: RedisRateLimiter;
  readonly lines: readonly string[];
}

async function withRedis(test: (world: World) => Promise<void>): Promise<void> {
  const redis = await startRedis();
  const lines: string[] = [];
  const counter = new RedisCounter(redis.url, (line) => lines.push(line));
  try {
    await counter.open();
    await test({ redis, lines, limiter: counter.rateLimiter('test', LIMIT, 60, memoryRateLimiter(LIMIT, 60)) });
  } finally {
    await counter.close();
    await redis.stop();
  }
}

/** Counts for many clients again and again until it is so; fails where one request fails, or it takes ten seconds. */
async function countUntil(limiter: RedisRateLimiter, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, 'it is not so after ten seconds');
    await Promise.all(Array.from({ length: CLIENTS }, () => limiter.consume('key')));
    await setTimeout(1);
  }
}

/** Whether a request is counted by Redis: it goes on from what was counted there. */
async function isShared(limiter: RedisRateLimiter): Promise<boolean> {
  const { fallbacks } = limiter;
  await limiter.consume('key');
  return limiter.fallbacks === fallbacks;
}

suite('a limiter whose Redis fails', {
  'counts alone while it is frozen, and together again when it goes on': () =>
    withRedis(async ({ redis, limiter, lines }) => {
      await countUntil(limiter, () => isShared(limiter));
      redis.freeze();
      await countUntil(limiter, () => lines.length === 1);
      assert.match(lines[0] as string, /Redis is away/);
      assert.equal(await isShared(limiter), false);
      redis.thaw();
      await countUntil(limiter, () => isShared(limiter));
      assert.match(lines[1] as string, /Redis is back/);
    }),

  'counts alone while it is gone, and together again when it is there': () =>
    withRedis(async ({ redis, limiter, lines }) => {
      await redis.kill();
      await countUntil(limiter, () => lines.length === 1);
      assert.equal(await isShared(limiter), false);
      await redis.start();
      await countUntil(limiter, () => isShared(limiter));
      assert.equal(lines.length, 2);
    }),

  'opens where there is none, and counts alone': async () => {
    const counter = new RedisCounter('redis://127.0.0.1:1', () => undefined);
    try {
      await counter.open();
      const limiter = counter.rateLimiter('test', 1, 60, memoryRateLimiter(1, 60));
      assert.equal((await limiter.consume('key')).allowed, true);
      assert.equal((await limiter.consume('key')).allowed, false);
    } finally {
      await counter.close();
    }
  },
});
