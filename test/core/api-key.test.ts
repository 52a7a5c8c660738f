import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { keyOperations } from '../../adapters/api/key.ts';
import {
  type ApiKey,
  createApiKeySecret,
  endRotated,
  findKeyExpiryErrors,
  getEnd,
  isApiKeySecret,
  newApiKey,
  outlives,
  revoke,
} from '../../core/access/api-key.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { DAY, NOON, SECOND } from '../support/core.ts';
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

const at = (offsetMs: number) => formatTimestamp(NOON + offsetMs);

/** A key that expires at a time relative to noon, or never. */
function keyThat(expiresInMs: number | null, fields: Partial<ApiKey> = {}): ApiKey {
  const expiresAt = expiresInMs === null ? null : at(expiresInMs);
  return { ...newApiKey('own', 'id', { secret: 'a secret', expiresAt }, (text) => text, NOON), ...fields };
}

suite('the end of an API key', {
  'is the time at which it expires, unless it is revoked': () => {
    assert.equal(getEnd(keyThat(null)), Number.POSITIVE_INFINITY);
    assert.equal(getEnd(keyThat(DAY)), NOON + DAY);
    assert.equal(getEnd(revoke(keyThat(DAY), at(0))), 0);
  },

  'does not change when the key is revoked again': () => {
    const revoked = revoke(keyThat(null), at(0));
    assert.equal(revoke(revoked, at(SECOND)), revoked);
  },

  'must be in the future, and not after that of the key that creates it': () => {
    const past = 'must be in the future';
    const late = `must be at most ${at(DAY)}, when your own key expires`;
    const cases: readonly [expiresInMs: number | null, withoutLimit?: string, withLimit?: string][] = [
      [-1, past, past],
      [0, past, past],
      [1],
      [DAY],
      [DAY + 1, undefined, late],
      [null, undefined, late],
    ];
    for (const [expiresInMs, ...problems] of cases) {
      const { expiresAt } = keyThat(expiresInMs);
      const callers = [keyThat(null), keyThat(DAY)];
      const found = callers.map((caller) => findKeyExpiryErrors(expiresAt, caller, NOON)[0]?.problem);
      assert.deepEqual(found, [problems[0], problems[1]], String(expiresInMs));
      assert.deepEqual(
        findKeyExpiryErrors(expiresAt, undefined, NOON),
        findKeyExpiryErrors(expiresAt, callers[0], NOON),
      );
      assert.equal(outlives(expiresAt, callers[1]), problems[1] === late);
    }
  },
});

suite('the rotation of an API key', {
  'ends the key after the grace period, or before if it expires before': () => {
    const cases: readonly [expiresInMs: number | null, graceMs: number, endsInMs: number][] = [
      [null, SECOND, SECOND],
      [DAY, SECOND, SECOND],
      [SECOND, DAY, SECOND],
      [DAY, DAY, DAY],
    ];
    for (const [expiresInMs, graceMs, endsInMs] of cases) {
      const key = keyThat(expiresInMs);
      assert.deepEqual(endRotated(key, graceMs, NOON), { ...key, isRotated: true, expiresAt: at(endsInMs) });
    }
  },

  'revokes the key without a grace period': () => {
    const key = keyThat(DAY);
    assert.deepEqual(endRotated(key, 0, NOON), { ...key, isRotated: true, revokedAt: at(0) });
  },

  'is rejected if the key is rotated, revoked or expired already': () => {
    const cases = {
      rotated: endRotated(keyThat(null), DAY, NOON),
      revoked: revoke(keyThat(DAY), at(0)),
      expired: keyThat(0),
    };
    for (const [state, key] of Object.entries(cases)) {
      const message = `This API key is already ${state}. Rotate a key that is not revoked, expired or rotated.`;
      assert.throws(() => endRotated(key, SECOND, NOON), { kind: 'conflict', causeName: 'key_ended', message });
    }
  },
});

suite('the documented example of an API key', {
  'is not a key': () => {
    const text = JSON.stringify(keyOperations.map(({ example }) => example));
    const secrets = text.match(/adv_\w+/g) ?? [];
    assert.ok(secrets.length > 0);
    for (const secret of secrets) assert.equal(isApiKeySecret(secret), false, secret);
  },
});
