import type { MemberRecordStore } from '../access/member.ts';
import { addValidRecords, type BatchResult, findTakenNames } from '../shared/batch.ts';
import { CoreError } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { type Group, type GroupRecordStore, groupSchema } from './group.ts';

export interface NewGroup {
  readonly name: string;
  readonly description?: string | undefined;
}

/** `count` is the number of members of the group. It is counted on each read. */
export type GroupView = Group & { readonly count: number };

/** The use cases of groups. */
export class GroupService {
  constructor(
    private readonly groups: GroupRecordStore,
    private readonly members: MemberRecordStore,
    private readonly system: System,
  ) {}

  /** Creates a group. Rejects with `conflict` if another group has the name (case-insensitive). */
  async create(workspaceId: string, fields: NewGroup): Promise<GroupView> {
    const group = this.newGroup(workspaceId, fields);
    await this.groups.add(group);
    return this.toView(group);
  }

  /** Checks a batch without storing it. Each result is the group to add, or the error of `create`. */
  async checkMany(workspaceId: string, batch: readonly NewGroup[]): Promise<readonly BatchResult<Group>[]> {
    const groups = batch.map((fields) => this.newGroup(workspaceId, fields));
    const names = groups.map(({ foldedName }) => foldedName);
    const takenNames = await findTakenNames(this.groups, workspaceId, names);
    return groups.map((group) => {
      if (takenNames.has(group.foldedName)) return new CoreError('conflict', groupSchema.unique.foldedName as string);
      takenNames.add(group.foldedName);
      return group;
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
    for await (const { groupIds } of iterateById((after, take) => this.members.listById(workspaceId, after, take))) {
      for (const id of new Set(groupIds)) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for await (const group of iterateById((after, take) => this.groups.listById(workspaceId, after, take))) {
      yield { ...group, count: counts.get(group.id) ?? 0 };
    }
  }

  private newGroup(workspaceId: string, { name, description = '' }: NewGroup): Group {
    return {
      id: this.system.newId(),
      workspaceId,
      name,
      foldedName: fold(name),
      description,
      createdAt: formatTimestamp(this.system.now()),
    };
  }

  private async toView(group: Group): Promise<GroupView> {
    const count = await this.members.count(group.workspaceId, [{ field: 'groupIds', in: [group.id] }]);
    return { ...group, count };
  }
}
