import { requireGroups } from '../group/group-references.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import { applyChanges } from '../shared/changes.ts';
import { requireFound } from '../shared/core-error.ts';
import type { System } from '../shared/system.ts';
import { type Member, type MemberChange, type NewMemberFields, newMember } from './member.ts';
import type { MemberRepository } from './member-repository.ts';

export class MemberService {
  constructor(
    private readonly members: MemberRepository,
    private readonly groups: GroupRepository,
    private readonly system: System,
  ) {}

  /** Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async create(workspaceId: string, fields: NewMemberFields): Promise<Member> {
    await requireGroups(this.groups, workspaceId, 'groupIds', fields.groupIds);
    const member = newMember(workspaceId, this.system.newId(), fields, this.system.now());
    await this.members.add(member);
    return member;
  }

  /** Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async update(workspaceId: string, id: string, change: MemberChange): Promise<Member> {
    if (change.groupIds?.length) {
      await this.get(workspaceId, id);
      await requireGroups(this.groups, workspaceId, 'groupIds', change.groupIds);
    }
    const now = this.system.now();
    const apply = (member: Member): Member => applyChanges(member, change, now);
    return requireFound(await this.members.update(workspaceId, id, apply), 'member');
  }

  async get(workspaceId: string, id: string): Promise<Member> {
    return requireFound(await this.members.findById(workspaceId, id), 'member');
  }

  iterate(workspaceId: string): AsyncIterable<Member> {
    return this.members.iterate(workspaceId);
  }
}
