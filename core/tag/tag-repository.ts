import type { Color } from '../shared/color.ts';
import type { BatchRepository } from '../shared/repository.ts';
import type { Tag } from './tag.ts';

/** The tags of all workspaces. */
export interface TagRepository extends BatchRepository<Tag> {
  /** Returns the tags with these names (case-insensitive). */
  findByNames(workspaceId: string, names: readonly string[]): Promise<readonly Tag[]>;
  /** Returns which of the ids belong to tags of the workspace. */
  findKnownIds(workspaceId: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns the number of tags with each color. */
  countByColor(workspaceId: string): Promise<Record<Color, number>>;
}
