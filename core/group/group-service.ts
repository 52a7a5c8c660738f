import type { MemberRepository } from '../access/member.ts';
import { timestamp } from '../shared/date.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { walk } from '../shared/walk.ts';
import type { Group, GroupRepository } from './group.ts';

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
  async create(workspaceId: string, { name, description = '' }: NewGroup): Promise<CountedGroup> {
    const group: Group = {
      id: this.system.newId(),
      workspaceId,
      name,
      foldedName: fold(name),
      description,
      createdAt: timestamp(this.system.now()),
    };
    await this.groups.add(group);
    return this.counted(group);
  }

  /** Every group, in the order of their making. */
  async *all(workspaceId: string): AsyncGenerator<CountedGroup> {
    for await (const group of walk((after, take) => this.groups.listById(workspaceId, after, take))) {
      yield await this.counted(group);
    }
  }

  private async counted(group: Group): Promise<CountedGroup> {
    const count = await this.members.count(group.workspaceId, [{ field: 'groupIds', in: [group.id] }]);
    return { ...group, count };
  }
}
