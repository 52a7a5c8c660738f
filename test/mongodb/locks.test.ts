import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type Lock, Locks } from '../../adapters/mongodb/locks.ts';
import { suite } from '../support/suite.ts';

async function isAcquired({ acquired }: Lock): Promise<boolean> {
  return (await Promise.race([acquired.then(() => 'acquired'), delay(5)])) === 'acquired';
}

suite('the locks of a process', {
  'are acquired in the order of the requests, each when all earlier ones for one of its keys were released':
    async () => {
      const locks = new Locks();
      const [a, ab, b, c] = [['a'], ['a', 'b'], ['b'], ['c']].map((keys) => locks.request(keys)) as Lock[];
      assert.deepEqual(await Promise.all([a, ab, b, c].map((it) => isAcquired(it as Lock))), [
        true,
        false,
        false,
        true,
      ]);
      a?.release();
      assert.deepEqual(await Promise.all([ab, b].map((it) => isAcquired(it as Lock))), [true, false]);
      ab?.release();
      assert.equal(await isAcquired(b as Lock), true);
    },

  'pass a request that is released before it acquires its locks, but not the owner before it': async () => {
    const locks = new Locks();
    const [owner, impatient, next] = [locks.request(['a']), locks.request(['a', 'b']), locks.request(['b', 'a'])];
    impatient.release();
    assert.equal(await isAcquired(next), false);
    owner.release();
    assert.equal(await isAcquired(next), true);
  },
});
