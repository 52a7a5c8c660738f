import { requireFound } from '../shared/core-error.ts';
import type { NameFilter } from '../shared/name.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { changeGroup, type Group, type GroupChange, type NewGroupFields, newGroup } from './group.ts';

/** `count` is the number of members of the group. It is counted on each read. */
export type GroupView = Group & { readonly count: number };

export class GroupService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  /** Rejects with `conflict` if another group has the name (case-insensitive). */
  async create(workspaceId: string, fields: NewGroupFields): Promise<GroupView> {
    const group = newGroup(workspaceId, this.system.newId(), fields, this.system.now());
    await this.storage.groups.add(group);
    return this.toView(group);
  }

  async get(workspaceId: string, id: string): Promise<GroupView> {
    return this.toView(requireFound(await this.storage.groups.findById(workspaceId, id), 'group'));
  }

  /** Returns a page of the groups whose name contains the search term. */
  async list(workspaceId: string, query: NameFilter & PageRequest): Promise<Page<GroupView>> {
    const { items, hasNext } = await this.storage.groups.findPage(workspaceId, query, query);
    return { items: await Promise.all(items.map((group) => this.toView(group))), hasNext };
  }

  /** Rejects with `conflict` if another group has the name (case-insensitive). */
  async update(workspaceId: string, id: string, change: GroupChange): Promise<GroupView> {
    const apply = (group: Group): Group => changeGroup(group, change);
    return this.toView(requireFound(await this.storage.groups.update(workspaceId, id, apply), 'group'));
  }

  /**
   * Iterates over all groups in the order of their IDs. Reads all members once, which is faster than a count for each
   * group.
   */
  async *iterate(workspaceId: string): AsyncGenerator<GroupView> {
    const counts = new Map<string, number>();
    for await (const { groupIds } of this.storage.members.iterate(workspaceId)) {
      for (const id of new Set(groupIds)) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for await (const group of this.storage.groups.iterate(workspaceId))
      yield { ...group, count: counts.get(group.id) ?? 0 };
  }

  private async toView(group: Group): Promise<GroupView> {
    return { ...group, count: await this.storage.members.countByGroup(group.workspaceId, group.id) };
  }
}
