import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import { cacheLookup, MAX_ENTRY_COUNT, MAX_LOAD_COUNT, MAX_WAITING_COUNT } from '../../adapters/links/lookup-cache.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite, type Test } from '../support/suite.ts';

const SECOND = 1_000;

interface Load {
  readonly key: string;
  end(value: string | undefined): void;
  fail(): void;
}

interface Setup {
  get(key: string): unknown;
  /** The monotonic clock. */
  readonly clock: { now: number };
  /** The loads that run. */
  readonly running: Load[];
  /** The keys of all loads that have started. */
  readonly started: string[];
  /** Ends all loads that run, and the loads that start in their place. */
  endAll(createValue?: (key: string) => string | undefined): Promise<void>;
}

/** Runs a test with a cache whose loads end when the test ends them. */
const withCache =
  (test: (setup: Setup) => Promise<void>, options: { isImmutable?: boolean } = {}): Test =>
  () => {
    const clock = { now: 0 };
    const [running, started]: [Load[], string[]] = [[], []];
    const load = (key: string): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        started.push(key);
        running.push({ key, end: resolve, fail: () => reject(new Error('no storage')) });
      });
    const endAll = async (createValue: (key: string) => string | undefined = (key) => `value of ${key}`) => {
      await nextTurn();
      while (running.length > 0) {
        for (const { key, end } of running.splice(0)) end(createValue(key));
        await nextTurn();
      }
    };
    const get = cacheLookup(pLimit(MAX_LOAD_COUNT), load, options);
    return withMonotonicClock(
      () => clock.now,
      () => test({ get, clock, running, started, endAll }),
    );
  };

const keysOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `key ${i}`);

suite('the cache of short links', {
  'loads a value once for simultaneous requests': withCache(async ({ get, started, endAll }) => {
    const values = [get('a'), get('a')];
    await endAll();
    assert.deepEqual(await Promise.all([...values, get('a')]), Array(3).fill('value of a'));
    assert.deepEqual(started, ['a']);
    assert.equal(get('a'), 'value of a', 'a cached value without a promise');
  }),

  'serves a burst of different links with a limited number of simultaneous loads': withCache(
    async ({ get, running, endAll }) => {
      const keys = keysOf(MAX_LOAD_COUNT + MAX_WAITING_COUNT);
      const values = keys.map((key) => get(key));
      await nextTurn();
      assert.equal(running.length, MAX_LOAD_COUNT);
      await assert.rejects(async () => get('one more'), /Too many short links/);
      // A link that is being loaded needs no further load.
      values.push(get('key 0'));
      await endAll();
      assert.deepEqual(
        await Promise.all(values),
        [...keys, 'key 0'].map((key) => `value of ${key}`),
      );
      const next = get('one more');
      await endAll();
      assert.equal(await next, 'value of one more');
    },
  ),

  'runs the waiting loads even if earlier loads have failed': withCache(async ({ get, running, endAll }) => {
    const keys = keysOf(MAX_LOAD_COUNT + 1);
    const results = Promise.allSettled(keys.map((key) => get(key)));
    await nextTurn();
    for (const { fail } of running.splice(0)) fail();
    await endAll();
    assert.deepEqual(
      (await results).map(({ status }) => status),
      [...Array(MAX_LOAD_COUNT).fill('rejected'), 'fulfilled'],
    );
  }),

  'loads a value again after a second, and never returns a value that is five seconds old': withCache(
    async ({ get, clock, running, endAll }) => {
      const first = get('a');
      await endAll(() => 'old');
      assert.equal(await first, 'old');
      clock.now = SECOND;
      assert.equal(await get('a'), 'old');
      assert.equal(running.length, 1);
      running.splice(0)[0]?.fail();
      await nextTurn();
      clock.now = 5 * SECOND - 1;
      assert.equal(await get('a'), 'old');
      running.splice(0)[0]?.fail();
      await nextTurn();
      clock.now = 5 * SECOND;
      const next = get('a');
      await endAll(() => 'new');
      assert.equal(await next, 'new');
    },
  ),

  'keeps a value that never changes, but looks up a missing key again': withCache(
    async ({ get, clock, endAll }) => {
      const [known, missing] = [get('known'), get('missing')];
      await endAll((key) => (key === 'known' ? 'value' : undefined));
      assert.deepEqual([await known, await missing], ['value', undefined]);
      clock.now = 100 * SECOND;
      assert.equal(get('known'), 'value');
      const added = get('missing');
      await endAll(() => 'added');
      assert.equal(await added, 'added');
    },
    { isImmutable: true },
  ),

  'rejects all requests that wait for a load of five seconds, and does not cache its value': withCache(
    async ({ get, clock, endAll }) => {
      const first = get('a');
      await nextTurn();
      clock.now = 5 * SECOND;
      const results = Promise.allSettled([first, get('a')]);
      await endAll(() => 'old');
      assert.deepEqual(
        (await results).map(({ status }) => status),
        ['rejected', 'rejected'],
      );
      const next = get('a');
      await endAll(() => 'new');
      assert.equal(await next, 'new');
    },
  ),

  'evicts the key that was used least recently': withCache(async ({ get, started, endAll }) => {
    const getAll = async (keys: readonly string[]) => {
      const values = Promise.all(keys.map((key) => get(key)));
      await endAll(() => undefined);
      await values;
    };
    await getAll(['used', 'unused']);
    for (let i = 0; i <= MAX_ENTRY_COUNT / 1_000; i++)
      await getAll(['used', ...keysOf(1_000).map((key) => `${i} ${key}`)]);
    await getAll(['unused']);
    assert.deepEqual(
      ['used', 'unused'].map((key) => started.filter((it) => it === key).length),
      [1, 2],
    );
  }),
});
