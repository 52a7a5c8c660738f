import assert from 'node:assert/strict';
import { createInvalidFieldsError } from '../../core/shared/core-error.ts';
import { suite } from '../support/suite.ts';

const errors = Array.from({ length: 11 }, (_, i) => ({ path: `resources.${i}.url`, problem: 'is required' }));

suite('the error of invalid fields', {
  'names at most ten fields': () => {
    const firstTen = errors.slice(0, 10).map(({ path, problem }) => `${path}: ${problem}`);
    assert.equal(createInvalidFieldsError(errors.slice(0, 10)).message, firstTen.join('; '));
    assert.equal(createInvalidFieldsError(errors).message, firstTen.join('; '));
  },
});
