import { createHash } from 'node:crypto';
import { v7 } from 'uuid';

/** The identity of an import: its ID, its workspace and the kind of its records. */
export interface ImportIdentity {
  /** A UUID version 7. */
  readonly importId: string;
  readonly workspaceId: string;
  readonly kind: string;
}

/**
 * Derives the ID of the record that is created from a line of an import. If a line with the same number and content is imported
 * again in the same import, its record gets the same ID. The ID is a UUID version 7 (RFC 9562). It consists of the time of the
 * import, the line number, and a hash of the line and its import. The line number keeps IDs in the order of the lines.
 */
export function deriveLineId({ importId, workspaceId, kind }: ImportIdentity, line: number, bytes: Uint8Array): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([importId, workspaceId, kind, line]))
    .update(bytes)
    .digest();
  const time = Number.parseInt(importId.replace('-', '').slice(0, 12), 16);
  // `v7` takes the last bits of `random`. An import that an earlier version of this program began can be continued
  // only if these bits stay the same.
  return v7({ msecs: time, seq: line, random: Buffer.concat([Buffer.alloc(8), hash], 16) });
}
