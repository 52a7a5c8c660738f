import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withChanges } from '../../core/shared/changes.ts';
import { timestamp } from '../../core/shared/date.ts';
import { NOON } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const AT = timestamp(NOON);
const stored = {
  name: 'before',
  isActive: true,
  groups: ['a', 'b'] as readonly string[],
  updatedAt: timestamp(NOON - 1),
};

type Fields = Parameters<typeof withChanges<typeof stored>>[1];

const unchanging: readonly Fields[] = [
  {},
  { name: undefined },
  { name: 'before' },
  { isActive: true },
  { groups: ['a', 'b'] },
  { name: 'before', isActive: true, groups: ['a', 'b'] },
  { name: undefined, groups: undefined },
];

const changing: readonly (readonly [Fields, Fields])[] = [
  [{ name: '' }, { name: '' }],
  [{ name: 'Before' }, { name: 'Before' }],
  [{ isActive: false }, { isActive: false }],
  [{ groups: [] }, { groups: [] }],
  [{ groups: ['a'] }, { groups: ['a'] }],
  [{ groups: ['b', 'a'] }, { groups: ['b', 'a'] }],
  [{ groups: ['a', 'b', 'c'] }, { groups: ['a', 'b', 'c'] }],
  [{ name: 'after', isActive: true }, { name: 'after' }],
  [{ name: 'after', isActive: undefined }, { name: 'after' }],
  [
    { name: 'after', isActive: false, groups: [] },
    { name: 'after', isActive: false, groups: [] },
  ],
];

suite('a changed record', {
  'is the stored one itself where every value equals the stored one or is left out': () => {
    for (const fields of unchanging) assert.equal(withChanges(stored, fields, NOON), stored, JSON.stringify(fields));
  },

  'has the fields that differ, keeps the others, and was updated now': () => {
    for (const [fields, different] of changing) {
      const expected = { ...stored, ...different, updatedAt: AT };
      assert.deepEqual(withChanges(stored, fields, NOON), expected, JSON.stringify(fields));
    }
  },

  'was not updated before it was updated last': () => {
    assert.deepEqual(withChanges(stored, { name: 'after' }, NOON - 2), { ...stored, name: 'after' });
  },

  'leaves the stored one as it was': () => {
    const frozen = Object.freeze({ ...stored });
    withChanges(frozen, { name: 'after' }, NOON);
    assert.deepEqual(frozen, stored);
  },

  'changed so again is itself': () => {
    const fields = fc.record(
      { name: fc.string(), isActive: fc.boolean(), groups: fc.array(fc.constantFrom('a', 'b', 'c')) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, (change) => {
        const next = withChanges(stored, change, NOON);
        assert.equal(withChanges(next, change, NOON + 1), next);
      }),
    );
  },
});
