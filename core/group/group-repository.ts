import type { NameFilter } from '../shared/name.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Group } from './group.ts';

/** The filter and the order of a list of groups. */
export type GroupFilter = NameFilter;

/** The groups of all workspaces. */
export interface GroupRepository
  extends Pick<Repository<Group>, 'findById' | 'findMany' | 'iterate' | 'add' | 'update'> {
  /** Returns a page of the groups that match the filter. */
  findPage(workspaceId: string, filter: GroupFilter, request: PageRequest): Promise<Page<Group>>;
}
