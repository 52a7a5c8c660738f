import type { Color } from '../shared/color.ts';
import type { NameFilter } from '../shared/name-filter.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange, FindFields } from '../shared/repository.ts';
import type { Tag } from './tag.ts';

/** The tags of all workspaces. A name is unique in its workspace (case-insensitive). */
export interface TagRepository {
  findById(workspaceId: string, id: string): Promise<Tag | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Tag[]>;
  readonly findFields: FindFields<Tag>;
  /** Returns the tags with these names (case-insensitive). */
  findByNames(workspaceId: string, names: readonly string[]): Promise<readonly Tag[]>;
  findPage(workspaceId: string, filter: NameFilter, request: PageRequest): Promise<Page<Tag>>;
  /** Returns the number of tags with each color. */
  countByColor(workspaceId: string): Promise<Record<Color, number>>;
  add(tag: Tag): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Tag>): Promise<Tag | undefined>;
  /** Returns whether the tag existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
