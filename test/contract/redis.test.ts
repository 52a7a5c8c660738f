import { memoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { RedisCounter } from '../../adapters/redis/rate-limiter.ts';
import { redis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';
import { rateLimiterContract } from './rate-limiter.ts';

let server: ReturnType<typeof redis> | undefined;

/** Opens a limiter on the one Redis of this file. */
async function openRateLimiter(limit: number, windowSeconds: number) {
  server ??= redis();
  const { url } = await server;
  const counter = new RedisCounter(url, () => undefined);
  await counter.open();
  const limiter = counter.rateLimiter('test', limit, windowSeconds, memoryRateLimiter(limit, windowSeconds));
  return { limiter, close: () => counter.close() };
}

suite('a rate limiter in Redis', {
  ...rateLimiterContract(openRateLimiter),
  'leaves no server behind': async () => (await server)?.stop(),
});
