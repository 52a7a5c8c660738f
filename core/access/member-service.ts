import { type GroupRecordStore, requireGroups } from '../group/group.ts';
import { applyChanges } from '../shared/changes.ts';
import { requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import type { System } from '../shared/system.ts';
import type { CallerCache } from './caller-cache.ts';
import type { Invitation, Member, MemberRecordStore, Role, SeatType } from './member.ts';

/** Fields of a member that can be set. Omitted fields keep their value, or get the default on creation. */
export interface MemberChange {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly role?: Role | undefined;
  readonly seatType?: SeatType | undefined;
  readonly groupIds?: readonly string[] | undefined;
  readonly invitation?: Invitation | undefined;
}

export type NewMember = MemberChange & { readonly name: string; readonly email: string };

/** The use cases of members. */
export class MemberService {
  constructor(
    private readonly members: MemberRecordStore,
    private readonly groups: GroupRecordStore,
    private readonly system: System,
    private readonly callers: CallerCache,
  ) {}

  /** Creates a member. Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async create(workspaceId: string, member: NewMember): Promise<Member> {
    await requireGroups(this.groups, workspaceId, 'groupIds', member.groupIds);
    const { name, email, role = 'member', seatType = 'advocate', groupIds = [], invitation = 'accepted' } = member;
    const now = formatTimestamp(this.system.now());
    const created: Member = {
      id: this.system.newId(),
      workspaceId,
      name,
      email,
      role,
      seatType,
      groupIds,
      invitation,
      createdAt: now,
      updatedAt: now,
    };
    await this.members.add(created);
    return created;
  }

  /**
   * Updates a member. Rejects with `not_found` if the workspace does not have the member, otherwise with `invalid` if one of
   * the groups does not exist in the workspace.
   */
  async update(workspaceId: string, id: string, change: MemberChange): Promise<Member> {
    if (change.groupIds?.length) {
      requireFound(await this.members.get(workspaceId, id), 'member');
      await requireGroups(this.groups, workspaceId, 'groupIds', change.groupIds);
    }
    const now = this.system.now();
    const apply = (member: Member): Member => applyChanges(member, change, now);
    const updated = requireFound(await this.members.update(workspaceId, id, apply), 'member');
    this.callers.clear();
    return updated;
  }

  /** Iterates over all members in creation order. */
  iterate(workspaceId: string): AsyncIterable<Member> {
    return iterateById((after, take) => this.members.listById(workspaceId, after, take));
  }
}
