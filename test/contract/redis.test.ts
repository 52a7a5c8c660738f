import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { RedisRateLimiters } from '../../adapters/redis/rate-limiter.ts';
import { getRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';
import { defineRateLimiterContract } from './rate-limiter-contract.ts';

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
  'clean-up: stops the server': async () => (await server)?.stop(),
});
