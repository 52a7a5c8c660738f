import assert from 'node:assert/strict';
import { createInvalidFieldsError, requireFound } from '../../core/shared/core-error.ts';
import { suite } from '../support/suite.ts';

const errors = Array.from({ length: 11 }, (_, i) => ({ path: `resources.${i}.url`, problem: 'is required' }));

suite('the error of invalid fields', {
  'names every invalid field in order': () => {
    const error = createInvalidFieldsError([
      { path: 'name', problem: 'must not be blank' },
      { path: 'resources.0.url', problem: 'is required' },
    ]);
    assert.equal(error.kind, 'invalid');
    assert.equal(error.message, 'name: must not be blank; resources.0.url: is required');
  },

  'names at most ten fields': () => {
    const firstTen = errors.slice(0, 10).map(({ path, problem }) => `${path}: ${problem}`);
    assert.equal(createInvalidFieldsError(errors.slice(0, 10)).message, firstTen.join('; '));
    assert.equal(createInvalidFieldsError(errors).message, firstTen.join('; '));
  },
});

suite('requireFound', {
  'returns the record, or throws not_found if it is undefined': () => {
    const record = {};
    assert.equal(requireFound(record, 'tag'), record);
    assert.throws(() => requireFound(undefined, 'tag'), {
      kind: 'not_found',
      message: 'No tag of this workspace has this id. Check the id.',
    });
  },
});
