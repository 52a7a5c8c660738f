import assert from 'node:assert/strict';
import { memoize } from '../../adapters/links/memoize.ts';
import { suite } from '../support/suite.ts';

suite('a memoized function', {
  'computes the result of a text once': () => {
    const texts: string[] = [];
    const isShort = memoize((text) => texts.push(text) > 0 && text.length < 3);
    assert.deepEqual(['ab', 'abc', 'ab', 'abc', ''].map(isShort), [true, false, true, false, true]);
    assert.deepEqual(texts, ['ab', 'abc', '']);
  },

  'keeps a limited number of results, and none of long texts': () => {
    let count = 0;
    const compute = memoize(() => ++count);
    for (let i = 0; i < 1_000; i++) compute(`text ${i}`);
    assert.equal(compute('text 0'), 1);
    compute('one more');
    assert.equal(compute('text 0'), 1_002);
    assert.deepEqual([compute('a'.repeat(501)), compute('a'.repeat(501))], [1_003, 1_004]);
  },
});
