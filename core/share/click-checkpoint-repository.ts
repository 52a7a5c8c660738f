import type { EntityChange } from '../shared/repository.ts';
import type { ClickCheckpoint } from './click-checkpoint.ts';

/** The click checkpoints of all workspaces. A checkpoint that has expired may be missing. */
export interface ClickCheckpointRepository {
  findById(workspaceId: string, id: string): Promise<ClickCheckpoint | undefined>;
  add(checkpoint: ClickCheckpoint): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<ClickCheckpoint>): Promise<unknown>;
}
