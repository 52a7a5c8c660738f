import type { MemberRepository } from '../access/member.ts';
import { addAll, type Outcome, takenNames } from '../shared/batch.ts';
import { timestamp } from '../shared/date.ts';
import { DomainError } from '../shared/error.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { walk } from '../shared/walk.ts';
import { type Group, type GroupRepository, groupKind } from './group.ts';

export interface NewGroup {
  readonly name: string;
  readonly description?: string | undefined;
}

/** `count`: how many members the group has, counted when it is read. */
export type CountedGroup = Group & { readonly count: number };

export class GroupService {
  constructor(
    private readonly groups: GroupRepository,
    private readonly members: MemberRepository,
    private readonly system: System,
  ) {}

  /** Refuses with `conflict` a name that another group has, whatever the case. */
  async create(workspaceId: string, fields: NewGroup): Promise<CountedGroup> {
    const group = this.made(workspaceId, fields);
    await this.groups.add(group);
    return this.counted(group);
  }

  /** What `createMany` would make of a batch, which it refuses as `create` does one by one. */
  async checkMany(workspaceId: string, batch: readonly NewGroup[]): Promise<readonly Outcome<Group>[]> {
    const groups = batch.map((fields) => this.made(workspaceId, fields));
    const names = groups.map(({ foldedName }) => foldedName);
    const taken = await takenNames(this.groups, workspaceId, names);
    return groups.map((group) => {
      if (taken.has(group.foldedName)) return new DomainError('conflict', groupKind.unique.foldedName as string);
      taken.add(group.foldedName);
      return group;
    });
  }

  /** Creates a batch. With `ids`, it can be retried (batch.ts). */
  async createMany(
    workspaceId: string,
    batch: readonly NewGroup[],
    ids?: readonly string[],
  ): Promise<readonly Outcome<Group>[]> {
    return addAll(this.groups, workspaceId, await this.checkMany(workspaceId, batch), ids);
  }

  /** Iterates over all groups in the order of creation. Reads all members once, which is faster than counting for each group. */
  async *all(workspaceId: string): AsyncGenerator<CountedGroup> {
    const counts = new Map<string, number>();
    for await (const { groupIds } of walk((after, take) => this.members.listById(workspaceId, after, take))) {
      for (const id of new Set(groupIds)) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for await (const group of walk((after, take) => this.groups.listById(workspaceId, after, take))) {
      yield { ...group, count: counts.get(group.id) ?? 0 };
    }
  }

  private made(workspaceId: string, { name, description = '' }: NewGroup): Group {
    return {
      id: this.system.newId(),
      workspaceId,
      name,
      foldedName: fold(name),
      description,
      createdAt: timestamp(this.system.now()),
    };
  }

  private async counted(group: Group): Promise<CountedGroup> {
    const count = await this.members.count(group.workspaceId, [{ field: 'groupIds', in: [group.id] }]);
    return { ...group, count };
  }
}
