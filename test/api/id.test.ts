import assert from 'node:assert/strict';
import { id } from '../../adapters/api/fields.ts';
import { suite } from '../support/suite.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const ID = '0190163d-8694-739b-aea5-966c26f8ad91';

const valid = [
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((version) => `0190163d-8694-${version}39b-aea5-966c26f8ad91`),
  ...['8', '9', 'a', 'b', 'A', 'B'].map((variant) => `0190163d-8694-739b-${variant}ea5-966c26f8ad91`),
  ...[ID.toUpperCase(), NIL, MAX, 'FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF'],
];

const invalid = [
  ...['0', '9', 'a', 'f'].map((version) => `0190163d-8694-${version}39b-aea5-966c26f8ad91`),
  ...['0', '7', 'c', 'f', 'F'].map((variant) => `0190163d-8694-739b-${variant}ea5-966c26f8ad91`),
  ...['', ID.replaceAll('-', ''), `{${ID}}`, `urn:uuid:${ID}`, ID.slice(0, -1), `${ID}1`, ` ${ID}`, `${ID}\n`],
  ...[ID.replace(/1$/, 'g'), '0190163d-8694-739b-aea59-66c26f8ad91'],
  ...[NIL.replace(/0$/, '1'), MAX.replace(/f$/, 'e')],
];

suite('an ID', {
  'can be a UUID of version 1 to 8 and variant 8, 9, a or b, the nil UUID or the max UUID, and is converted to lower case':
    () => {
      for (const value of valid) assert.equal(id.parse(value), value.toLowerCase());
    },

  'is invalid if its version, variant, length or punctuation is not that of a UUID': () => {
    for (const value of invalid) assert.equal(id.safeParse(value).success, false, value);
  },
});
