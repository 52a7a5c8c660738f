import type { Color } from '../shared/color.ts';
import type { NameFilter } from '../shared/name.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Tag } from './tag.ts';

export interface TagRepository extends Repository<Tag> {
  findPage(workspaceId: string, filter: NameFilter, request: PageRequest): Promise<Page<Tag>>;
  /** Returns the tags with these names (case-insensitive). */
  findByNames(workspaceId: string, names: readonly string[]): Promise<readonly Tag[]>;
  /** Returns the number of tags with each color. */
  countByColor(workspaceId: string): Promise<Record<Color, number>>;
}
