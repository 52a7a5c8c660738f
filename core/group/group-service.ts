import { createNotFoundError, requireFound } from '../shared/core-error.ts';
import type { NameFilter } from '../shared/name-filter.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import { changeGroup, type Group, type GroupChange, type NewGroupFields, newGroup } from './group.ts';
import type { GroupRepository } from './group-repository.ts';

/** `count` is the number of members of the group. It is counted on each read. */
export type GroupView = Group & { readonly count: number };

export class GroupService {
  constructor(
    private readonly groups: GroupRepository,
    private readonly system: System,
  ) {}

  /** Rejects with `conflict` if another group has the name (case-insensitive). */
  async create(workspaceId: string, fields: NewGroupFields): Promise<GroupView> {
    const group = newGroup(workspaceId, this.system.newId(), fields, this.system.now());
    await this.groups.add(group);
    return this.toView(group);
  }

  async get(workspaceId: string, id: string): Promise<GroupView> {
    return this.toView(requireFound(await this.groups.findById(workspaceId, id), 'group'));
  }

  async list(workspaceId: string, query: NameFilter & PageRequest): Promise<Page<GroupView>> {
    const { items, hasNext } = await this.groups.findPage(workspaceId, query, query);
    return { items: await Promise.all(items.map((group) => this.toView(group))), hasNext };
  }

  /** Rejects with `conflict` if another group has the name (case-insensitive). */
  async update(workspaceId: string, id: string, change: GroupChange): Promise<GroupView> {
    const apply = (group: Group): Group => changeGroup(group, change);
    return this.toView(requireFound(await this.groups.update(workspaceId, id, apply), 'group'));
  }

  /** Deletes a group. Campaigns, questions and members keep its ID, but filters, briefs and lists ignore the ID. */
  async remove(workspaceId: string, id: string): Promise<void> {
    if (!(await this.groups.remove(workspaceId, id))) throw createNotFoundError('group');
  }

  private async toView(group: Group): Promise<GroupView> {
    return { ...group, count: await this.groups.countMembers(group.workspaceId, group.id) };
  }
}
