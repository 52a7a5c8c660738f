import assert from 'node:assert/strict';
import { CallerCache } from '../../core/access/caller-cache.ts';
import { suite } from '../support/suite.ts';

const TTL_MS = 3000;

/** Creates a cache with a clock that only a test moves, and a counter of its loads. */
function createCache() {
  const state = { now: 0, loadCount: 0 };
  const cache = new CallerCache(TTL_MS, () => state.now);
  const load = async () => {
    state.loadCount++;
    return { caller: { workspaceId: 'own', keyId: `${state.loadCount}`, access: 'full' as const }, expiresAt: 10 };
  };
  const getKeyId = async (hash = 'a') => (await cache.get(hash, load)).caller.keyId;
  return { state, cache, getKeyId };
}

suite('the cache of callers', {
  'loads a caller again after the TTL': async () => {
    const { state, getKeyId } = createCache();
    assert.equal(await getKeyId(), '1');
    state.now = TTL_MS - 1;
    assert.equal(await getKeyId(), '1');
    state.now = TTL_MS;
    assert.equal(await getKeyId(), '2');
  },

  'loads a caller once for concurrent requests': async () => {
    const { state, getKeyId } = createCache();
    assert.deepEqual(await Promise.all([getKeyId(), getKeyId(), getKeyId('b')]), ['1', '1', '2']);
    assert.equal(state.loadCount, 2);
  },

  'does not cache a failed load': async () => {
    const { cache, getKeyId } = createCache();
    await assert.rejects(
      cache.get('a', () => Promise.reject(new Error('rejected'))),
      { message: 'rejected' },
    );
    assert.equal(await getKeyId(), '1');
  },

  'evicts the oldest of more than 10,000 entries': async () => {
    const { state, getKeyId } = createCache();
    for (let i = 0; i <= 10_000; i++) await getKeyId(`${i}`);
    await getKeyId('1');
    assert.equal(state.loadCount, 10_001);
    await getKeyId('0');
    assert.equal(state.loadCount, 10_002);
  },

  'evicts all entries when it is cleared': async () => {
    const { cache, getKeyId } = createCache();
    await getKeyId();
    cache.clear();
    assert.equal(await getKeyId(), '2');
  },
});
