import assert from 'node:assert/strict';
import { isUuid } from '../../core/shared/uuid.ts';
import { suite } from '../support/suite.ts';

const valid = [
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((version) => `0190163d-8694-${version}39b-aea5-966c26f8ad91`),
  ...['8', '9', 'a', 'b', 'A', 'B'].map((variant) => `0190163d-8694-739b-${variant}ea5-966c26f8ad91`),
  '0190163D-8694-739B-AEA5-966C26F8AD91',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF',
];

const invalid = [
  ...['0', '9', 'a', 'f'].map((version) => `0190163d-8694-${version}39b-aea5-966c26f8ad91`),
  ...['0', '7', 'c', 'f', 'F'].map((variant) => `0190163d-8694-739b-${variant}ea5-966c26f8ad91`),
  '',
  '0190163d8694739baea5966c26f8ad91',
  '{0190163d-8694-739b-aea5-966c26f8ad91}',
  'urn:uuid:0190163d-8694-739b-aea5-966c26f8ad91',
  '0190163d-8694-739b-aea5-966c26f8ad9',
  '0190163d-8694-739b-aea5-966c26f8ad911',
  '0190163d-8694-739b-aea5-966c26f8ad9g',
  '0190163d-8694-739b-aea59-66c26f8ad91',
  ' 0190163d-8694-739b-aea5-966c26f8ad91',
  '0190163d-8694-739b-aea5-966c26f8ad91\n',
  '00000000-0000-0000-0000-000000000001',
  'ffffffff-ffff-ffff-ffff-fffffffffffe',
];

suite('an ID', {
  'can be a UUID of version 1 to 8 and variant 8, 9, a or b, the nil UUID or the max UUID, in either case': () => {
    for (const value of valid) assert.equal(isUuid(value), true, value);
  },

  'is invalid if its version, variant, length or punctuation is not that of a UUID': () => {
    for (const value of invalid) assert.equal(isUuid(value), false, value);
  },
});
