import type { Entity, GlobalRecordStore, RecordSchema, RecordStore } from '../shared/record-store.ts';
import type { Access } from './caller.ts';

/** A key as it is kept: never the secret itself, only its hash and its last four characters. */
export interface ApiKey extends Entity {
  readonly hash: string;
  readonly lastFour: string;
  readonly label: string;
  readonly memberId: string | null;
  readonly access: Access;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export const KEY_LABEL = { max: 190 };

export type ApiKeyRepository = RecordStore<ApiKey>;

export const apiKeySchema: RecordSchema<ApiKey> = { name: 'apiKeys', unique: {}, indexes: [] };

/** Where a key is kept, by the hash of its secret: the way from a credential to its workspace. */
export interface Credential {
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
}

export type CredentialStore = GlobalRecordStore<Credential>;

const PREFIX = 'adv_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET = /^adv_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** The key that is handed out for 32 random characters of base62: `adv_`, these, and their checksum. */
export function apiKeySecret(random: string): string {
  return PREFIX + random + checksum(random);
}

/** Whether a text can be a key: a mistyped or made-up one is known by its checksum, without a look-up. */
export function isApiKeySecret(text: string): boolean {
  const [, random, sum] = SECRET.exec(text) ?? [];
  return random !== undefined && sum === checksum(random);
}

/** CRC-32 in base62, six characters, padded with 0 in front, as in GitHub's tokens. */
function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** CRC-32 of an ASCII text (ISO 3309, the polynomial of zlib). */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
