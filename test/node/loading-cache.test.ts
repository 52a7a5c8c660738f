import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { LoadingCache } from '../../adapters/node/loading-cache.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite, type Test } from '../support/suite.ts';

interface Load {
  readonly key: string;
  end(value: string): void;
  fail(): void;
}

interface Setup {
  get(key: string): string | Promise<string>;
  readonly clock: { now: number };
  /** All loads that have started. */
  readonly loads: readonly Load[];
  /** Ends all loads. */
  endAll(createValue?: (key: string) => string): Promise<void>;
}

/** Runs a test with a cache of three keys, whose loads end when the test ends them. */
const withCache =
  (test: (setup: Setup) => Promise<void>): Test =>
  () => {
    const clock = { now: 0 };
    const cache = new LoadingCache<string>({
      maxEntryCount: 3,
      refreshAgeMs: 1_000,
      maxAgeMs: 5_000,
      isImmutable: (value) => value === 'immutable',
    });
    const loads: Load[] = [];
    const get = (key: string) =>
      cache.get(
        key,
        () =>
          new Promise<string>((resolve, reject) => {
            loads.push({ key, end: resolve, fail: () => reject(new Error('no storage')) });
          }),
      );
    const endAll = async (createValue = (key: string) => `value of ${key}`) => {
      for (const { key, end } of loads) end(createValue(key));
      await nextIteration();
    };
    return withMonotonicClock(
      () => clock.now,
      () => test({ get, clock, loads, endAll }),
    );
  };

suite('a loading cache', {
  'loads a value once for simultaneous calls, and then returns it without a promise': withCache(
    async ({ get, loads, endAll }) => {
      const values = [get('a'), get('a')];
      await endAll();
      assert.deepEqual(await Promise.all(values), ['value of a', 'value of a']);
      assert.equal(get('a'), 'value of a');
      assert.equal(loads.length, 1);
    },
  ),

  'refreshes a value in the background, keeps it if that fails, and never returns one that is too old': withCache(
    async ({ get, clock, loads, endAll }) => {
      get('a');
      await endAll(() => 'old');
      for (const now of [1_000, 4_999]) {
        clock.now = now;
        assert.deepEqual([get('a'), get('a')], ['old', 'old']);
        loads.at(-1)?.fail();
        await nextIteration();
      }
      assert.equal(loads.length, 3);
      clock.now = 5_000;
      const next = get('a');
      await endAll(() => 'new');
      assert.equal(await next, 'new');
      clock.now = 6_000;
      assert.equal(get('a'), 'new');
      await endAll(() => 'newer');
      assert.equal(get('a'), 'newer');
    },
  ),

  'rejects if a load rejects, and loads the value again': withCache(async ({ get, loads, endAll }) => {
    const rejected = assert.rejects(async () => get('a'), { message: 'no storage' });
    loads[0]?.fail();
    await rejected;
    const next = get('a');
    await endAll();
    assert.equal(await next, 'value of a');
  }),

  'loads a value once more for a call that has joined a load that is too old': withCache(
    async ({ get, clock, loads, endAll }) => {
      const first = get('a');
      clock.now = 5_000;
      const second = get('a');
      assert.equal(loads.length, 1);
      await endAll(() => 'old');
      assert.equal(await first, 'old');
      await endAll(() => 'new');
      assert.deepEqual([await second, loads.length], ['new', 2]);
    },
  ),

  'never loads an immutable value again': withCache(async ({ get, clock, endAll }) => {
    get('a');
    await endAll(() => 'immutable');
    clock.now = 1_000_000;
    assert.equal(get('a'), 'immutable');
  }),

  'evicts the key that was used least recently, also while it is loaded': withCache(async ({ get, loads, endAll }) => {
    for (const key of ['a', 'b', 'c']) get(key);
    await endAll();
    get('a');
    const values = [get('d'), get('e'), get('f'), get('g')];
    await endAll();
    assert.deepEqual(await Promise.all(values), ['value of d', 'value of e', 'value of f', 'value of g']);
    get('a');
    assert.deepEqual(
      loads.map(({ key }) => key),
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'a'],
    );
  }),
});
