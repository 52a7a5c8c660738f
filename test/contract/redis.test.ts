import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { RedisRateLimiters } from '../../adapters/redis/rate-limiter.ts';
import { getRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';
import { defineRateLimiterContract } from './rate-limiter-contract.ts';
import { newId } from './samples.ts';

let server: ReturnType<typeof getRedis> | undefined;

/** Opens a rate limiter on the Redis server that all tests of this file share. */
async function openRateLimiter(limit: number, windowSeconds: number) {
  server ??= getRedis();
  const { url } = await server;
  const rateLimiters = new RedisRateLimiters(url, () => undefined);
  await rateLimiters.open();
  const limiter = rateLimiters.createRateLimiter(
    'test',
    limit,
    windowSeconds,
    createMemoryRateLimiter(limit, windowSeconds),
  );
  return { limiter, close: () => rateLimiters.close() };
}

suite('a rate limiter in Redis', defineRateLimiterContract(openRateLimiter), {
  'ends a window on time if the clock of Redis was set back by an hour': async () => {
    server ??= getRedis();
    const { url } = await server;
    const rateLimiters = new RedisRateLimiters(url, () => undefined);
    const client = new Redis(url);
    try {
      await rateLimiters.open();
      const limiter = rateLimiters.createRateLimiter('set-back', 1, 10, createMemoryRateLimiter(1, 10));
      const key = newId();
      await limiter.consume(key);
      // If the clock is set back by an hour, the key expires an hour later.
      await client.pexpire(`advocacy:set-back:${key}`, 3_610_000);
      const { allowed, resetsInMs } = await limiter.consume(key);
      assert.equal(allowed, false);
      assert.ok(resetsInMs <= 10_000, `resets in ${resetsInMs} ms`);
      assert.ok((await client.pttl(`advocacy:set-back:${key}`)) <= 10_000);
    } finally {
      client.disconnect();
      await rateLimiters.close();
    }
  },
  'clean-up: stops the server': async () => (await server)?.stop(),
});
