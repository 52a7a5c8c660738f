import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { createApiKeySecret, isApiKeySecret } from '../../core/access/api-key.ts';
import { suite } from '../support/suite.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_PART = 'abcdefghijklmnopqrstuvwxyzABCDEF';
const randomPart = fc.string({ unit: fc.constantFrom(...BASE62), minLength: 32, maxLength: 32 });

/** Returns the CRC-32 of zlib in six characters of base62. */
function computeChecksum(text: string): string {
  const digits: string[] = [];
  let remainder = BigInt(crc32(text));
  for (; remainder > 0n; remainder /= 62n) digits.unshift(BASE62[Number(remainder % 62n)] as string);
  return digits.join('').padStart(6, '0');
}

suite('the secret of an API key', {
  'is adv_, 32 random characters and their checksum': () => {
    assert.equal(createApiKeySecret(RANDOM_PART), `adv_${RANDOM_PART}1mVgZW`);
    fc.assert(
      fc.property(randomPart, (text) => {
        assert.equal(createApiKeySecret(text), `adv_${text}${computeChecksum(text)}`);
        assert.equal(isApiKeySecret(createApiKeySecret(text)), true);
      }),
    );
  },

  'has a checksum that is padded with 0 on the left': () => {
    const text = 'padded00000000000000000000020152';
    assert.equal(createApiKeySecret(text), `adv_${text}000CVh`);
  },

  'is invalid if any one character is changed': () => {
    const key = createApiKeySecret(RANDOM_PART);
    for (let at = 0; at < key.length; at++) {
      for (const character of `${BASE62}_- é`) {
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        assert.equal(isApiKeySecret(changed), changed === key, changed);
      }
    }
  },

  'is invalid without its prefix or a part of its checksum, in another case, or with additional characters': () => {
    const key = createApiKeySecret(RANDOM_PART);
    const others = [
      '',
      'adv_',
      key.slice(4),
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key} `,
      `${key}\n`,
      key.toUpperCase(),
    ];
    for (const other of [...others, `adv_${key}`, key.replace('adv_', 'ADV_'), `Bearer ${key}`]) {
      assert.equal(isApiKeySecret(other), false, other);
    }
  },
});
