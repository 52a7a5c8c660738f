import type { NameFilter } from '../shared/name.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Group } from './group.ts';

export interface GroupRepository
  extends Pick<Repository<Group>, 'findById' | 'findMany' | 'iterate' | 'add' | 'update'> {
  findPage(workspaceId: string, filter: NameFilter, request: PageRequest): Promise<Page<Group>>;
}
