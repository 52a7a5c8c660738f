import type { Entity } from '../shared/entity.ts';

/** A process that stores the clicks of a workspace (click-counter.ts). */
export interface ClickWriter extends Entity {
  /** The number of the last batch that is stored. */
  readonly sequence: number;
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}
