import assert from 'node:assert/strict';
import { id } from '../../adapters/api/fields.ts';
import { suite } from '../support/suite.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const ID = '0190163d-8694-739b-aea5-966c26f8ad91';

const valid = [ID, ID.toUpperCase(), '0190163d-8694-139b-8ea5-966c26f8ad91', NIL, MAX, MAX.toUpperCase()];

const invalid = [
  ...['0', '9', 'a'].map((version) => `0190163d-8694-${version}39b-aea5-966c26f8ad91`),
  ...['7', 'c'].map((variant) => `0190163d-8694-739b-${variant}ea5-966c26f8ad91`),
  ...['', ID.replaceAll('-', ''), `{${ID}}`, `urn:uuid:${ID}`, ID.slice(1), `${ID}1`, ` ${ID}`, `${ID}\n`],
  ...[NIL.replace(/0$/, '1'), MAX.replace(/f$/, 'e')],
];

suite('an ID', {
  'can be a UUID of version 1 to 8, the nil UUID or the max UUID, and is converted to lower case': () => {
    for (const value of valid) assert.equal(id.parse(value), value.toLowerCase());
  },

  'is invalid if its version, variant, length or punctuation is not that of a UUID': () => {
    for (const value of invalid) assert.equal(id.safeParse(value).success, false, value);
  },
});
