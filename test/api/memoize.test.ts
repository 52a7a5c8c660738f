import assert from 'node:assert/strict';
import { memoize } from '../../adapters/api/memoize.ts';
import { suite } from '../support/suite.ts';

interface Named {
  readonly name: string;
}

function createCounter() {
  let callCount = 0;
  const toUpper = memoize(({ name }: Named): Named => {
    callCount++;
    return { name: name.toUpperCase() };
  });
  return { toUpper, getCallCount: () => callCount };
}

suite('a memoized function', {
  'returns the same frozen value for the same frozen argument': () => {
    const { toUpper, getCallCount } = createCounter();
    const named = Object.freeze({ name: 'a' });
    assert.deepEqual(toUpper(named), { name: 'A' });
    assert.equal(toUpper(named), toUpper(named));
    assert.ok(Object.isFrozen(toUpper(named)));
    assert.deepEqual(toUpper(Object.freeze({ name: 'b' })), { name: 'B' });
    assert.equal(getCallCount(), 2);
  },

  'computes the value again for an argument that can change': () => {
    const { toUpper } = createCounter();
    const named = { name: 'a' };
    toUpper(named);
    named.name = 'b';
    assert.deepEqual(toUpper(named), { name: 'B' });
    assert.ok(!Object.isFrozen(toUpper(named)));
  },

  'caches the values of many arguments': () => {
    const { toUpper, getCallCount } = createCounter();
    const many = Array.from({ length: 5_000 }, (_, i) => Object.freeze({ name: `${i}` }));
    for (const round of [many, many]) for (const named of round) toUpper(named);
    assert.equal(getCallCount(), 5_000);
  },
});
