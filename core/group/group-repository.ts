import type { BatchRepository } from '../shared/repository.ts';
import type { Group } from './group.ts';

/** The groups of all workspaces. */
export interface GroupRepository extends BatchRepository<Group> {
  /** Returns the groups with these names (case-insensitive). */
  findByNames(workspaceId: string, names: readonly string[]): Promise<readonly Group[]>;
  /** Returns which of the ids belong to groups of the workspace. */
  findKnownIds(workspaceId: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
}
