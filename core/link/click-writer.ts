import { DAY_MS } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** The time for which the storage keeps the number of the last batch of a writer. A batch that failed can be repeated until then. */
const WRITER_TTL_MS = 7 * DAY_MS;

/** A process that stores the clicks of a workspace (click-counter.ts). */
export interface ClickWriter extends Entity {
  /** The number of the last batch that is stored. */
  readonly sequence: number;
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}

/** Returns the writer after it has stored a batch. `now` is in milliseconds since the epoch, on the clock of the storage. */
export function newClickWriter(workspaceId: string, id: string, sequence: number, now: number): ClickWriter {
  return { id, workspaceId, sequence, expiresAt: now + WRITER_TTL_MS };
}
