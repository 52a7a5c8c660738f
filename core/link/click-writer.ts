import { DAY_MS } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/**
 * How long the number of the last stored batch of clicks is kept. Within this time, a batch whose outcome is unknown
 * can be sent again without being counted twice.
 */
const WRITER_TTL_MS = 7 * DAY_MS;

/**
 * How far a process has stored the clicks of a workspace (`ClickBatch`). The ID names the process and the workspace.
 */
export interface ClickWriter extends Entity {
  /** The number of the last batch that is stored. */
  readonly sequence: number;
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}

/** Returns the record to store together with the batch `sequence`. `now` is the time of the storage. */
export function newClickWriter(workspaceId: string, id: string, sequence: number, now: number): ClickWriter {
  return { id, workspaceId, sequence, expiresAt: now + WRITER_TTL_MS };
}
