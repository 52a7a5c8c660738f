import type { Color } from '../shared/color.ts';
import type { NameFilter } from '../shared/name.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Tag } from './tag.ts';

/** The filter and the order of a list of tags. */
export type TagFilter = NameFilter;

/** The tags of all workspaces. */
export interface TagRepository extends Repository<Tag> {
  /** Returns a page of the tags that match the filter. */
  findPage(workspaceId: string, filter: TagFilter, request: PageRequest): Promise<Page<Tag>>;
  /** Returns the tags with these names (case-insensitive). */
  findByNames(workspaceId: string, names: readonly string[]): Promise<readonly Tag[]>;
  /** Returns the number of tags with each color. */
  countByColor(workspaceId: string): Promise<Record<Color, number>>;
}
