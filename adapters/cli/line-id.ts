import { createHash } from 'node:crypto';

const LINE_BITS = 32;
const HASH_BITS = 42;

/** The identity of an import: its id, its workspace and the kind of its records. */
export interface ImportIdentity {
  /** A UUID version 7. */
  readonly importId: string;
  readonly workspaceId: string;
  readonly kind: string;
}

/**
 * Derives the id of the record that is created from a line of an import. If a line with the same number and content is imported
 * again in the same import, its record gets the same id. The id is a UUID version 7 (RFC 9562). It consists of the time of the
 * import, the line number, and a hash of the line and its import. The line number keeps ids in the order of the lines.
 */
export function deriveLineId({ importId, workspaceId, kind }: ImportIdentity, line: number, bytes: Uint8Array): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([importId, workspaceId, kind, line]))
    .update(bytes)
    .digest();
  const time = BigInt(`0x${importId.replace('-', '').slice(0, 12)}`);
  const number = BigInt.asUintN(LINE_BITS, BigInt(line));
  const suffix = (number << BigInt(HASH_BITS)) | BigInt.asUintN(HASH_BITS, hash.readBigUInt64BE());
  const id = (time << 80n) | (0x7n << 76n) | ((suffix >> 62n) << 64n) | (0b10n << 62n) | BigInt.asUintN(62, suffix);
  const hex = id.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
