import assert from 'node:assert/strict';
import { memoize } from '../../core/shared/memo.ts';
import { suite } from '../support/suite.ts';

interface Named {
  readonly name: string;
}

function counting() {
  let times = 0;
  const upper = memoize(({ name }: Named): Named => {
    times++;
    return { name: name.toUpperCase() };
  });
  return { upper, times: () => times };
}

suite('a memoised function', {
  'makes the same frozen value of a frozen one': () => {
    const { upper, times } = counting();
    const named = Object.freeze({ name: 'a' });
    assert.deepEqual(upper(named), { name: 'A' });
    assert.equal(upper(named), upper(named));
    assert.ok(Object.isFrozen(upper(named)));
    assert.deepEqual(upper(Object.freeze({ name: 'b' })), { name: 'B' });
    assert.equal(times(), 2);
  },

  'looks again at a value that can change': () => {
    const { upper } = counting();
    const named = { name: 'a' };
    upper(named);
    named.name = 'b';
    assert.deepEqual(upper(named), { name: 'B' });
    assert.ok(!Object.isFrozen(upper(named)));
  },

  'remembers each of many': () => {
    const { upper, times } = counting();
    const many = Array.from({ length: 5_000 }, (_, i) => Object.freeze({ name: `${i}` }));
    for (const round of [many, many]) for (const named of round) upper(named);
    assert.equal(times(), 5_000);
  },
});
