import { type GroupRepository, groupReferences } from '../group/group.ts';
import { timestamp } from '../shared/date.ts';
import { requireReferences } from '../shared/references.ts';
import type { System } from '../shared/system.ts';
import type { Invitation, Member, MemberRepository, Role, SeatType } from './member.ts';

export interface NewMember {
  readonly name: string;
  readonly email: string;
  readonly role?: Role;
  readonly seatType?: SeatType;
  readonly groupIds?: readonly string[];
  readonly invitation?: Invitation;
}

export class MemberService {
  constructor(
    private readonly members: MemberRepository,
    private readonly groups: GroupRepository,
    private readonly system: System,
  ) {}

  /** Refuses with `invalid` groups that the workspace does not have. */
  async create(workspaceId: string, member: NewMember): Promise<Member> {
    await requireReferences(groupReferences(this.groups, workspaceId, 'groupIds', member.groupIds));
    const now = timestamp(this.system.now());
    const created: Member = {
      role: 'member',
      seatType: 'advocate',
      groupIds: [],
      invitation: 'accepted',
      ...member,
      id: this.system.newId(),
      workspaceId,
      createdAt: now,
      updatedAt: now,
    };
    await this.members.add(created);
    return created;
  }
}
