import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LookupCache, MAX_LOAD_COUNT, MAX_WAITING_COUNT } from '../../core/link/lookup-cache.ts';
import { suite } from '../support/suite.ts';

const SECOND = 1_000;

interface Load {
  readonly key: string;
  end(value: string | undefined): void;
  fail(): void;
}

/** Creates a cache whose loads end when the test ends them. */
function setUp(options: { isImmutable?: boolean } = {}) {
  const clock = { now: 0 };
  /** The loads that run, and the keys of all loads that have started. */
  const [running, started]: [Load[], string[]] = [[], []];
  const load = (key: string): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      started.push(key);
      running.push({ key, end: resolve, fail: () => reject(new Error('no storage')) });
    });
  const cache = new LookupCache(load, () => clock.now, options);
  /** Ends all loads that run, and the loads that start in their place. */
  const endAll = async (createValue: (key: string) => string | undefined = (key) => `value of ${key}`) => {
    await nextTurn();
    while (running.length > 0) {
      for (const { key, end } of running.splice(0)) end(createValue(key));
      await nextTurn();
    }
  };
  return { cache, clock, running, started, endAll };
}

const keysOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `key ${i}`);

suite('the cache of short links', {
  'loads a value once for simultaneous requests': async () => {
    const { cache, started, endAll } = setUp();
    const values = [cache.get('a'), cache.get('a')];
    await endAll();
    assert.deepEqual(await Promise.all([...values, cache.get('a')]), Array(3).fill('value of a'));
    assert.deepEqual(started, ['a']);
    assert.equal(cache.get('a'), 'value of a', 'a cached value without a promise');
  },

  'serves a burst of different links with a limited number of simultaneous loads': async () => {
    const { cache, running, endAll } = setUp();
    const keys = keysOf(MAX_LOAD_COUNT + MAX_WAITING_COUNT);
    const values = keys.map((key) => cache.get(key));
    await nextTurn();
    assert.equal(running.length, MAX_LOAD_COUNT);
    await assert.rejects(async () => cache.get('one more'), /Too many short links/);
    // A link that is being loaded needs no further load.
    values.push(cache.get('key 0'));
    await endAll();
    assert.deepEqual(
      await Promise.all(values),
      [...keys, 'key 0'].map((key) => `value of ${key}`),
    );
    const next = cache.get('one more');
    await endAll();
    assert.equal(await next, 'value of one more');
  },

  'runs the waiting loads even if earlier loads have failed': async () => {
    const { cache, running, endAll } = setUp();
    const keys = keysOf(MAX_LOAD_COUNT + 1);
    const results = Promise.allSettled(keys.map((key) => cache.get(key)));
    await nextTurn();
    for (const { fail } of running.splice(0)) fail();
    await endAll();
    assert.deepEqual(
      (await results).map(({ status }) => status),
      [...Array(MAX_LOAD_COUNT).fill('rejected'), 'fulfilled'],
    );
  },

  'loads a value again after a second, and never returns a value that is five seconds old': async () => {
    const { cache, clock, running, endAll } = setUp();
    const first = cache.get('a');
    await endAll(() => 'old');
    assert.equal(await first, 'old');
    clock.now = SECOND;
    assert.equal(await cache.get('a'), 'old');
    assert.equal(running.length, 1);
    running.splice(0)[0]?.fail();
    await nextTurn();
    clock.now = 5 * SECOND - 1;
    assert.equal(await cache.get('a'), 'old');
    running.splice(0)[0]?.fail();
    await nextTurn();
    clock.now = 5 * SECOND;
    const next = cache.get('a');
    await endAll(() => 'new');
    assert.equal(await next, 'new');
  },

  'keeps a value that never changes, but looks up a missing key again': async () => {
    const { cache, clock, endAll } = setUp({ isImmutable: true });
    const [known, missing] = [cache.get('known'), cache.get('missing')];
    await endAll((key) => (key === 'known' ? 'value' : undefined));
    assert.deepEqual([await known, await missing], ['value', undefined]);
    clock.now = 100 * SECOND;
    assert.equal(cache.get('known'), 'value');
    const added = cache.get('missing');
    await endAll(() => 'added');
    assert.equal(await added, 'added');
  },

  'rejects all requests that wait for a load of five seconds, and does not cache its value': async () => {
    const { cache, clock, endAll } = setUp();
    const first = cache.get('a');
    await nextTurn();
    clock.now = 5 * SECOND;
    const results = Promise.allSettled([first, cache.get('a')]);
    await endAll(() => 'old');
    assert.deepEqual(
      (await results).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const next = cache.get('a');
    await endAll(() => 'new');
    assert.equal(await next, 'new');
  },

  'keeps values although many unknown keys are requested': async () => {
    const { cache, started, endAll } = setUp();
    const value = cache.get('known');
    await endAll();
    await value;
    for (let i = 0; i < 11; i++) {
      const absences = Promise.all(keysOf(1_000).map((key) => cache.get(`${i} ${key}`)));
      await endAll(() => undefined);
      await absences;
    }
    assert.equal(await cache.get('known'), 'value of known');
    assert.equal(started.filter((key) => key === 'known').length, 1);
  },
});
