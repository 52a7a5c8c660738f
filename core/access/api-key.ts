import { BASE62 } from '../shared/base62.ts';
import type { Changes } from '../shared/changes.ts';
import { CoreError, type FieldError } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { System } from '../shared/system.ts';
import type { Access } from './permissions.ts';

/** An API key. The secret is not stored, only its SHA-256 hash and its last four characters. */
export interface ApiKey extends Entity {
  readonly hash: string;
  readonly lastFour: string;
  readonly label: string;
  readonly memberId: string | null;
  readonly access: Access;
  readonly createdAt: string;
  /** A timestamp (`formatTimestamp`), or `null` if the key does not expire. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  /** Whether another key replaces this one. It can work until `expiresAt`, but does not count for the limits. */
  readonly isRotated: boolean;
}

/**
 * The fields of a key to create. `secret` is given if the operator chose it. By default, a random secret is created.
 */
export type NewApiKeyFields = Changes<Pick<ApiKey, 'label' | 'memberId' | 'access' | 'expiresAt'> & { secret: string }>;

const PREFIX = 'adv_';
/** The number of random characters in a secret. */
export const SECRET_RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const SECRET_PATTERN = new RegExp(`^${PREFIX}([${BASE62}]{${SECRET_RANDOM_LENGTH}})([${BASE62}]{${CHECKSUM_LENGTH}})$`);

/** Returns a new key with the given secret. */
export function newApiKey(
  workspaceId: string,
  id: string,
  {
    memberId = null,
    label = '',
    access = 'full',
    expiresAt = null,
    secret,
  }: NewApiKeyFields & { readonly secret: string },
  sha256: System['sha256'],
  now: number,
): ApiKey {
  const [lastFour, createdAt] = [secret.slice(-4), formatTimestamp(now)];
  const hash = hashSecret(secret, sha256);
  const key = { id, workspaceId, hash, lastFour, label, memberId, access, createdAt, expiresAt };
  return { ...key, revokedAt: null, lastUsedAt: null, isRotated: false };
}

/** Returns the time at which a key ends, in milliseconds since the epoch: 0 if it is revoked. */
export function getEnd({ expiresAt, revokedAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt'>): number {
  if (revokedAt !== null) return 0;
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
}

/** Returns whether a key ends later than the key of the caller who creates or rotates it. The operator has no key. */
export function outlives(expiresAt: string | null, callerKey: ApiKey | undefined): boolean {
  if (!callerKey || callerKey.expiresAt === null) return false;
  return expiresAt === null || Date.parse(expiresAt) > Date.parse(callerKey.expiresAt);
}

/** Returns the errors of the end of a new key. */
export function findKeyExpiryErrors(
  expiresAt: string | null,
  callerKey: ApiKey | undefined,
  now: number,
): FieldError[] {
  const problem =
    expiresAt !== null && Date.parse(expiresAt) <= now
      ? 'must be in the future'
      : outlives(expiresAt, callerKey) && `must be at most ${callerKey?.expiresAt}, when your own key expires`;
  return problem ? [{ path: 'expiresAt', problem }] : [];
}

export function revoke(key: ApiKey, revokedAt: string): ApiKey {
  return key.revokedAt === null ? { ...key, revokedAt } : key;
}

/**
 * Returns a key that another one replaces. It ends after the grace period, if it does not end before. Without one, it
 * is revoked. Throws `conflict` if it has ended or is rotated already.
 */
export function endRotated(key: ApiKey, graceMs: number, now: number): ApiKey {
  const end = getEnd(key);
  const state = key.isRotated ? 'rotated' : end > now ? undefined : key.revokedAt === null ? 'expired' : 'revoked';
  if (state) {
    const message = `This API key is already ${state}. Rotate a key that is not revoked, expired or rotated.`;
    throw new CoreError('conflict', message, 'key_ended');
  }
  const rotated = { ...key, isRotated: true };
  return graceMs === 0
    ? revoke(rotated, formatTimestamp(now))
    : { ...rotated, expiresAt: formatTimestamp(Math.min(end, now + graceMs)) };
}

/**
 * Returns the hash by which a key is stored and found. A secret is random and long, so that a fast hash without a salt
 * is enough.
 */
export function hashSecret(secret: string, sha256: System['sha256']): string {
  return sha256(secret);
}

/** Creates the secret of a key: `adv_`, random characters of base62, and their checksum. */
export function createApiKeySecret(random: string): string {
  return PREFIX + random + computeChecksum(random);
}

/** Returns whether a text can be a secret. The checksum detects a mistyped or invented secret without a lookup. */
export function isApiKeySecret(text: string): boolean {
  const [, random, checksum] = SECRET_PATTERN.exec(text) ?? [];
  return random !== undefined && checksum === computeChecksum(random);
}

/** Returns the CRC-32 of a text, written in base62 and padded with 0 on the left, as in GitHub's tokens. */
function computeChecksum(random: string): string {
  let remainder = computeCrc32(random);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[remainder % BASE62.length] + digits;
    remainder = Math.floor(remainder / BASE62.length);
  }
  return digits;
}

/** Returns the CRC-32 of an ASCII text (ISO 3309, the polynomial of zlib). */
function computeCrc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
