import assert from 'node:assert/strict';
import { CallerCache } from '../../core/access/caller-cache.ts';
import { suite } from '../support/suite.ts';

const KEPT_MS = 3000;

/** A cache at a clock that stands until a test moves it, and how often it asked. */
function world() {
  const it = { now: 0, asked: 0 };
  const cache = new CallerCache(KEPT_MS, () => it.now);
  const ask = async () => {
    it.asked++;
    return { caller: { workspaceId: 'own', keyId: `${it.asked}`, access: 'full' as const }, expiresAt: 10 };
  };
  const keyId = async (hash = 'a') => (await cache.get(hash, ask)).caller.keyId;
  return { it, cache, keyId };
}

suite('the cache of callers', {
  'asks again when the time is over': async () => {
    const { it, keyId } = world();
    assert.equal(await keyId(), '1');
    it.now = KEPT_MS - 1;
    assert.equal(await keyId(), '1');
    it.now = KEPT_MS;
    assert.equal(await keyId(), '2');
  },

  'asks once for those that come at once': async () => {
    const { it, keyId } = world();
    assert.deepEqual(await Promise.all([keyId(), keyId(), keyId('b')]), ['1', '1', '2']);
    assert.equal(it.asked, 2);
  },

  'remembers no refusal': async () => {
    const { cache, keyId } = world();
    await assert.rejects(
      cache.get('a', () => Promise.reject(new Error('refused'))),
      { message: 'refused' },
    );
    assert.equal(await keyId(), '1');
  },

  'forgets the oldest of more than 10,000': async () => {
    const { it, keyId } = world();
    for (let i = 0; i <= 10_000; i++) await keyId(`${i}`);
    await keyId('1');
    assert.equal(it.asked, 10_001);
    await keyId('0');
    assert.equal(it.asked, 10_002);
  },

  'forgets all when it is told to': async () => {
    const { cache, keyId } = world();
    await keyId();
    cache.clear();
    assert.equal(await keyId(), '2');
  },
});
