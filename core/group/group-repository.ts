import type { NameFilter } from '../shared/name-filter.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange, FindFields } from '../shared/repository.ts';
import type { Group } from './group.ts';

/** The groups of all workspaces. A name is unique in its workspace (case-insensitive). */
export interface GroupRepository {
  findById(workspaceId: string, id: string): Promise<Group | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Group[]>;
  readonly findFields: FindFields<Group>;
  findPage(workspaceId: string, filter: NameFilter, request: PageRequest): Promise<Page<Group>>;
  countMembers(workspaceId: string, groupId: string): Promise<number>;
  add(group: Group): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Group>): Promise<Group | undefined>;
  /** Returns whether the group existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
