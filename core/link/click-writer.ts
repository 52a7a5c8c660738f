import type { Entity } from '../shared/entity.ts';
import type { Repository } from '../shared/repository.ts';

/** A process that stores the clicks of a workspace (click-counter.ts). */
export interface ClickWriter extends Entity {
  /** The number of the last batch that is stored. */
  readonly sequence: number;
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}

/** The processes that store clicks, of all workspaces. */
export type ClickWriterRepository = Pick<Repository<ClickWriter>, 'findById' | 'add' | 'update'>;
