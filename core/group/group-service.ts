import type { MemberRepository } from '../access/member-repository.ts';
import { addValidRecords, type BatchResult } from '../shared/batch.ts';
import { CoreError } from '../shared/core-error.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { GROUP_NAME_TAKEN, type Group, type NewGroup, newGroup } from './group.ts';
import type { GroupRepository } from './group-repository.ts';

/** `count` is the number of members of the group. It is counted on each read. */
export type GroupView = Group & { readonly count: number };

/** The use cases of groups. */
export class GroupService {
  constructor(
    private readonly groups: GroupRepository,
    private readonly members: MemberRepository,
    private readonly system: System,
  ) {}

  /** Creates a group. Rejects with `conflict` if another group has the name (case-insensitive). */
  async create(workspaceId: string, fields: NewGroup): Promise<GroupView> {
    const group = newGroup(workspaceId, this.system.newId(), fields, this.system.now());
    await this.groups.add(group);
    return { ...group, count: await this.members.countByGroup(workspaceId, group.id) };
  }

  /** Checks a batch without storing it. Each result is the group to add, or the error of `create`. */
  async checkMany(workspaceId: string, batch: readonly NewGroup[]): Promise<readonly BatchResult<Group>[]> {
    const names = batch.map(({ name }) => name);
    const takenNames = new Set((await this.groups.findByNames(workspaceId, names)).map(({ name }) => fold(name)));
    return batch.map((fields) => {
      if (takenNames.has(fold(fields.name))) return new CoreError('conflict', GROUP_NAME_TAKEN);
      takenNames.add(fold(fields.name));
      return newGroup(workspaceId, this.system.newId(), fields, this.system.now());
    });
  }

  /** Creates a batch. With `ids`, the call can be retried (`addValidRecords` in batch.ts). */
  async createMany(
    workspaceId: string,
    batch: readonly NewGroup[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<Group>[]> {
    return addValidRecords(this.groups, workspaceId, await this.checkMany(workspaceId, batch), ids);
  }

  /** Iterates over all groups in creation order. Reads all members once, which is faster than a count for each group. */
  async *iterate(workspaceId: string): AsyncGenerator<GroupView> {
    const counts = new Map<string, number>();
    for await (const { groupIds } of this.members.iterate(workspaceId)) {
      for (const id of new Set(groupIds)) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for await (const group of this.groups.iterate(workspaceId)) yield { ...group, count: counts.get(group.id) ?? 0 };
  }
}
