import assert from 'node:assert/strict';
import { applyChanges, isSameValue, selectMissingDefaults } from '../../core/shared/changes.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const NOON_TEXT = formatTimestamp(NOON);
const stored = {
  name: 'before',
  isActive: true,
  groups: ['a', 'b'] as readonly string[],
  files: [{ url: 'x', size: 1 }] as readonly { url: string; size?: number | null | undefined }[],
  updatedAt: formatTimestamp(NOON - 1),
};

type Fields = Parameters<typeof applyChanges<typeof stored>>[1];

/** Fields that do not differ from the stored record. */
const unchanging: readonly Fields[] = [
  {},
  { name: undefined },
  { name: 'before' },
  { isActive: true },
  { groups: ['a', 'b'] },
  { name: 'before', isActive: true, groups: ['a', 'b'] },
  { name: undefined, groups: undefined },
  { files: [{ size: 1, url: 'x' }] },
];

/** Fields of a change, and those of them that differ from the stored record. */
const changing: readonly (readonly [Fields, Fields])[] = [
  [{ name: '' }, { name: '' }],
  [{ name: 'Before' }, { name: 'Before' }],
  [{ isActive: false }, { isActive: false }],
  [{ groups: [] }, { groups: [] }],
  [{ groups: ['a'] }, { groups: ['a'] }],
  [{ groups: ['b', 'a'] }, { groups: ['b', 'a'] }],
  [{ groups: ['a', 'b', 'c'] }, { groups: ['a', 'b', 'c'] }],
  [{ files: [{ url: 'x', size: 2 }] }, { files: [{ url: 'x', size: 2 }] }],
  [{ files: [{ url: 'x' }] }, { files: [{ url: 'x' }] }],
  [{ files: [{ url: 'x', size: null }] }, { files: [{ url: 'x', size: null }] }],
  [{ files: [] }, { files: [] }],
  [{ name: 'after', isActive: true }, { name: 'after' }],
  [{ name: 'after', isActive: undefined }, { name: 'after' }],
  [
    { name: 'after', isActive: false, groups: [] },
    { name: 'after', isActive: false, groups: [] },
  ],
];

suite('a change of a record', {
  'returns the same record if every value is omitted or equals the stored value': () => {
    for (const fields of unchanging) assert.equal(applyChanges(stored, fields, NOON), stored, JSON.stringify(fields));
  },

  'sets the fields that differ and updatedAt, and keeps all other fields': () => {
    for (const [fields, changed] of changing) {
      const expected = { ...stored, ...changed, updatedAt: NOON_TEXT };
      assert.deepEqual(applyChanges(stored, fields, NOON), expected, JSON.stringify(fields));
    }
  },

  'treats an undefined field of a nested value as a missing field': () => {
    assert.ok(isSameValue([{ url: 'x', size: undefined }], [{ url: 'x' }]));
    assert.ok(isSameValue([{ url: 'x' }], [{ url: 'x', size: undefined }]));
    assert.ok(!isSameValue([{ url: 'x', size: undefined }], [{ url: 'x', size: null }]));
  },

  'tells an array from an object with the same fields': () => {
    assert.ok(!isSameValue([], {}));
    assert.ok(!isSameValue({}, []));
    assert.ok(!isSameValue([['a']], [{ 0: 'a' }]));
    assert.ok(isSameValue([], []));
  },

  'never decreases updatedAt': () => {
    assert.deepEqual(applyChanges(stored, { name: 'after' }, NOON - 2), { ...stored, name: 'after' });
  },

  'does not modify the stored record': () => {
    const frozen = Object.freeze({ ...stored });
    applyChanges(frozen, { name: 'after' }, NOON);
    assert.deepEqual(frozen, stored);
  },
});

suite('the default of a field', {
  'is selected if the field is omitted or undefined, but not if it is null or empty': () => {
    const defaults: { readonly [field: string]: unknown } = { a: 1, b: null, c: 2, d: 3 };
    assert.deepEqual(selectMissingDefaults(defaults, { a: undefined, c: null, d: '', e: 4 }), { a: 1, b: null });
  },
});
