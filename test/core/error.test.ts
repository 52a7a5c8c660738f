import assert from 'node:assert/strict';
import { invalidFields, requireFound } from '../../core/shared/core-error.ts';
import { suite } from '../support/suite.ts';

const faults = Array.from({ length: 11 }, (_, i) => ({ path: `resources.${i}.url`, problem: 'is required' }));

suite('the message of a refusal', {
  'names every failed field, in order': () => {
    const refused = invalidFields([
      { path: 'name', problem: 'must not be blank' },
      { path: 'resources.0.url', problem: 'is required' },
    ]);
    assert.equal(refused.kind, 'invalid');
    assert.equal(refused.message, 'name: must not be blank; resources.0.url: is required');
  },

  'names ten fields at most': () => {
    const firstTen = faults.slice(0, 10).map(({ path, problem }) => `${path}: ${problem}`);
    assert.equal(invalidFields(faults.slice(0, 10)).message, firstTen.join('; '));
    assert.equal(invalidFields(faults).message, firstTen.join('; '));
  },
});

suite('a record that may not be there', {
  'is given back, or refused with not_found': () => {
    const record = {};
    assert.equal(requireFound(record, 'tag'), record);
    assert.throws(() => requireFound(undefined, 'tag'), {
      kind: 'not_found',
      message: 'There is no tag with this id in the workspace.',
    });
  },
});
