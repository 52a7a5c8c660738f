import assert from 'node:assert/strict';
import { COLORS, type Color } from '../../core/shared/color.ts';
import { findLeastUsedColor, findTagNameProblem } from '../../core/tag/tag.ts';
import { suite } from '../support/suite.ts';

/** How often red, yellow, green, blue, purple and brown are used, and the color of the next tag. */
const cases: readonly (readonly [readonly number[], Color])[] = [
  [[0, 0, 0, 0, 0, 0], 'red'],
  [[1, 0, 0, 0, 0, 0], 'yellow'],
  [[1, 1, 0, 0, 0, 0], 'green'],
  [[1, 1, 1, 0, 0, 0], 'blue'],
  [[1, 1, 1, 1, 0, 0], 'purple'],
  [[1, 1, 1, 1, 1, 0], 'brown'],
  [[1, 1, 1, 1, 1, 1], 'red'],
  [[2, 1, 1, 1, 1, 1], 'yellow'],
  [[5, 4, 3, 3, 9, 4], 'green'],
  [[5, 4, 3, 1, 9, 1], 'blue'],
  [[0, 7, 7, 7, 7, 7], 'red'],
];

suite('the color of a new tag', {
  'is the least used color, or the first of several least used colors': () => {
    for (const [counts, color] of cases) {
      const byColor = Object.fromEntries(COLORS.map((name, i) => [name, counts[i]])) as Record<Color, number>;
      assert.equal(findLeastUsedColor(byColor), color, counts.join(', '));
    }
  },
});

suite('the name of a tag', {
  'must not contain a comma': () => {
    for (const name of ['a,b', ',', 'a,']) assert.equal(findTagNameProblem(name), 'must not contain a comma', name);
    for (const name of ['a b', 'a;b', 'a，b', 'a、b']) assert.equal(findTagNameProblem(name), undefined, name);
  },
});
