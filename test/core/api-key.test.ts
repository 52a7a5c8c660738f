import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { apiKeySecret, isApiKeySecret } from '../../core/access/api-key.ts';
import { suite } from '../support/suite.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM = 'abcdefghijklmnopqrstuvwxyzABCDEF';
const random = fc.string({ unit: fc.constantFrom(...BASE62), minLength: 32, maxLength: 32 });

/** CRC-32 as zlib has it, in base62, six characters. */
function checksum(text: string): string {
  const digits: string[] = [];
  for (let rest = BigInt(crc32(text)); rest > 0n; rest /= 62n) digits.unshift(BASE62[Number(rest % 62n)] as string);
  return digits.join('').padStart(6, '0');
}

suite('an API key', {
  'is adv_, 32 random characters and their checksum': () => {
    assert.equal(apiKeySecret(RANDOM), `adv_${RANDOM}1mVgZW`);
    fc.assert(
      fc.property(random, (text) => {
        assert.equal(apiKeySecret(text), `adv_${text}${checksum(text)}`);
        assert.equal(isApiKeySecret(apiKeySecret(text)), true);
      }),
    );
  },

  'has a checksum padded with 0 in front': () => {
    const text = 'padded00000000000000000000020152';
    assert.equal(apiKeySecret(text), `adv_${text}000CVh`);
  },

  'is refused with any one character changed': () => {
    const key = apiKeySecret(RANDOM);
    for (let at = 0; at < key.length; at++) {
      for (const character of `${BASE62}_- é`) {
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        assert.equal(isApiKeySecret(changed), changed === key, changed);
      }
    }
  },

  'is refused in any other form': () => {
    const key = apiKeySecret(RANDOM);
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
