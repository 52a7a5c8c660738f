import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { RateLimiter, Usage } from '../../core/access/rate-limiter.ts';
import type { Tests } from '../support/suite.ts';
import { newId } from './samples.ts';

/** Opens a limiter that allows `limit` requests of a key in a window. */
export type OpenRateLimiter = (
  limit: number,
  windowSeconds: number,
) => Promise<{ readonly limiter: RateLimiter; close(): Promise<void> }>;

/**
 * Returns the tests that every rate limiter must pass. Tests may share a Redis server, so each test uses its own keys.
 */
export function defineRateLimiterContract(open: OpenRateLimiter): Tests {
  const test = (limit: number, windowSeconds: number, work: (limiter: RateLimiter) => Promise<void>) => async () => {
    const { limiter, close } = await open(limit, windowSeconds);
    try {
      await work(limiter);
    } finally {
      await close();
    }
  };
  return {
    'allows as many requests of a key as the limit, and returns how many remain': test(3, 60, async (limiter) => {
      const key = newId();
      for (const [allowed, remaining] of [
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0],
      ] as const) {
        const { resetsInMs, ...usage } = await limiter.consume(key);
        assert.deepEqual(usage, { allowed, remaining, limit: 3, windowSeconds: 60 });
        assert.ok(resetsInMs > 0 && resetsInMs <= 60_000, `resets in ${resetsInMs} ms`);
      }
    }),

    'counts each key separately, whatever characters the key has': test(1, 60, async (limiter) => {
      const own = newId();
      for (const key of ['', ':', '::1', '__proto__', 'constructor', 'é🏆', '*'].map((it) => own + it)) {
        assert.equal((await limiter.consume(key)).allowed, true, key);
        assert.equal((await limiter.consume(key)).allowed, false, key);
      }
    }),

    'allows no more requests than the limit if they are concurrent': test(10, 60, async (limiter) => {
      const key = newId();
      const usages = await Promise.all(Array.from({ length: 50 }, () => limiter.consume(key)));
      assert.equal(usages.filter(({ allowed }) => allowed).length, 10);
      assert.equal((await limiter.consume(key)).allowed, false);
    }),

    'starts a window with the first request of a key, and never extends the window': test(2, 1, async (limiter) => {
      const key = newId();
      const usages = [await limiter.consume(key), await limiter.consume(key), await limiter.consume(key)];
      assert.deepEqual(
        usages.map(({ allowed }) => allowed),
        [true, true, false],
      );
      for (let last = usages.at(-1); !last?.allowed; last = usages.at(-1)) {
        await setImmediate();
        usages.push(await limiter.consume(key));
      }
      const { allowed, remaining } = usages.pop() as Usage;
      assert.deepEqual({ allowed, remaining }, { allowed: true, remaining: 1 });
      const resetTimes = usages.map(({ resetsInMs }) => resetsInMs);
      assert.deepEqual(
        resetTimes,
        resetTimes.toSorted((a, b) => b - a),
      );
      assert.ok((resetTimes.at(-1) as number) < (resetTimes[0] as number));
    }),
  };
}
