import { createHash } from 'node:crypto';

const LINE_BITS = 32;
const HASH_BITS = 42;

/** The identity of an import: its id, and the workspace and kind of the records that it stores. */
export interface ImportTarget {
  /** A UUID version 7. */
  readonly importId: string;
  readonly workspaceId: string;
  readonly kind: string;
}

/**
 * Returns the id of the record that a line of an import becomes. The same line has the same id whenever it is imported
 * under the same `importId`. The id is a UUID version 7 (RFC 9562): the time of the import, the number of the line, so
 * that ids are in the order of the lines, and a hash of the line and its target.
 */
export function lineId({ importId, workspaceId, kind }: ImportTarget, line: number, bytes: Uint8Array): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([importId, workspaceId, kind, line]))
    .update(bytes)
    .digest();
  const time = BigInt(`0x${importId.replace('-', '').slice(0, 12)}`);
  const number = BigInt.asUintN(LINE_BITS, BigInt(line));
  const random = (number << BigInt(HASH_BITS)) | BigInt.asUintN(HASH_BITS, hash.readBigUInt64BE());
  const id = (time << 80n) | (0x7n << 76n) | ((random >> 62n) << 64n) | (0b10n << 62n) | BigInt.asUintN(62, random);
  const hex = id.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
