import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { RateLimiter, Usage } from '../../core/access/rate-limiter.ts';
import type { Tests } from './on-storage.ts';
import { newId } from './samples.ts';

/** Opens a limiter for so many requests of a key in so many seconds. */
export type OpenRateLimiter = (
  limit: number,
  windowSeconds: number,
) => Promise<{ readonly limiter: RateLimiter; close(): Promise<void> }>;

/** What every rate limiter does, as tests. What is open may be shared by other tests: each uses keys of its own. */
export function rateLimiterContract(open: OpenRateLimiter): Tests {
  const test = (limit: number, windowSeconds: number, work: (limiter: RateLimiter) => Promise<void>) => async () => {
    const { limiter, close } = await open(limit, windowSeconds);
    try {
      await work(limiter);
    } finally {
      await close();
    }
  };
  return {
    'allows as many requests of a key as the limit says, and says what is left': test(3, 60, async (limiter) => {
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

    'counts each key by itself, whatever its characters': test(1, 60, async (limiter) => {
      const own = newId();
      for (const key of ['', ':', '::1', '__proto__', 'constructor', 'é🏆', '*'].map((it) => own + it)) {
        assert.equal((await limiter.consume(key)).allowed, true, key);
        assert.equal((await limiter.consume(key)).allowed, false, key);
      }
    }),

    'allows no more than the limit of many requests at once': test(10, 60, async (limiter) => {
      const key = newId();
      const usages = await Promise.all(Array.from({ length: 50 }, () => limiter.consume(key)));
      assert.equal(usages.filter(({ allowed }) => allowed).length, 10);
      assert.equal((await limiter.consume(key)).allowed, false);
    }),

    'begins a window with the first request of a key, and does not prolong it': test(2, 1, async (limiter) => {
      const key = newId();
      const usages = [await limiter.consume(key), await limiter.consume(key), await limiter.consume(key)];
      assert.deepEqual(
        usages.map(({ allowed }) => allowed),
        [true, true, false],
      );
      for (let last = usages.at(-1); !last?.allowed; last = usages.at(-1)) {
        await turn();
        usages.push(await limiter.consume(key));
      }
      const { allowed, remaining } = usages.pop() as Usage;
      assert.deepEqual({ allowed, remaining }, { allowed: true, remaining: 1 });
      const left = usages.map(({ resetsInMs }) => resetsInMs);
      assert.deepEqual(
        left,
        left.toSorted((a, b) => b - a),
      );
      assert.ok((left.at(-1) as number) < (left[0] as number));
    }),
  };
}
