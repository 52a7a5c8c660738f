import { requireGroups } from '../group/group-references.ts';
import { applyChanges } from '../shared/changes.ts';
import { requireFound } from '../shared/core-error.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { type Member, type MemberChange, type NewMemberFields, newMember } from './member.ts';

export class MemberService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  /** Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async create(workspaceId: string, fields: NewMemberFields): Promise<Member> {
    await requireGroups(this.storage.groups, workspaceId, 'groupIds', fields.groupIds);
    const member = newMember(workspaceId, this.system.newId(), fields, this.system.now());
    await this.storage.members.add(member);
    return member;
  }

  /** Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async update(workspaceId: string, id: string, change: MemberChange): Promise<Member> {
    if (change.groupIds?.length) {
      requireFound(await this.storage.members.findById(workspaceId, id), 'member');
      await requireGroups(this.storage.groups, workspaceId, 'groupIds', change.groupIds);
    }
    const now = this.system.now();
    const apply = (member: Member): Member => applyChanges(member, change, now);
    return requireFound(await this.storage.members.update(workspaceId, id, apply), 'member');
  }

  iterate(workspaceId: string): AsyncIterable<Member> {
    return this.storage.members.iterate(workspaceId);
  }
}
