import type { EventFactory } from '../event/event.ts';
import type { EventRepository } from '../event/event-repository.ts';
import { findExistingGroupIds, findGroupReferenceErrors } from '../group/group-references.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import { CoreError, createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import { findKnownIds } from '../shared/references.ts';
import type { Clock, System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import {
  acceptInvitation,
  changeMember,
  findExpiryErrors,
  type InvitedMember,
  isAcceptedAdmin,
  LAST_ADMIN,
  type Member,
  type MemberChange,
  type NewMemberFields,
  newMember,
  withInvitation,
} from './member.ts';
import type { MemberFilter, MemberRepository } from './member-repository.ts';

/** `groups` are the IDs of the groups of the member, without deleted groups. */
export type MemberView = InvitedMember & { readonly groups: readonly string[] };

interface MemberRepositories {
  readonly members: MemberRepository;
  readonly groups: GroupRepository;
  readonly events: EventRepository;
}

/** The use cases of members. All times are those of the clock that all processes share, because invitations expire. */
export class MemberService {
  constructor(
    private readonly members: MemberRepository,
    private readonly groups: GroupRepository,
    private readonly unitOfWork: UnitOfWork<MemberRepositories>,
    private readonly system: Pick<System, 'newId'>,
    private readonly storageClock: Clock,
    private readonly newEvent: EventFactory,
  ) {}

  /**
   * Creates a member. Rejects with `invalid` if a group does not exist in the workspace, or if the expiry of the
   * invitation is not allowed. Rejects with `conflict` if another member has the email address (case-insensitive).
   */
  async create(workspaceId: string, fields: NewMemberFields): Promise<MemberView> {
    const now = this.storageClock.now();
    const known = await requireValid(this.groups, workspaceId, fields, undefined, now);
    const member = newMember(workspaceId, this.system.newId(), fields, now);
    await this.unitOfWork.run(async ({ members, events }) => {
      await events.add(this.newEvent(workspaceId, 'member.created', { memberId: member.id }));
      await members.add(member);
    });
    return toView(member, known, now);
  }

  /**
   * Updates a member. Rejects as `create` does. Also rejects with `conflict` if the change of the invitation is not
   * allowed, or if no admin with an accepted invitation would be left.
   */
  async update(workspaceId: string, id: string, change: MemberChange): Promise<MemberView> {
    const now = this.storageClock.now();
    return this.unitOfWork.run(async ({ members, groups, events }) => {
      const stored = requireFound(await members.findById(workspaceId, id), 'member');
      const known = await requireValid(groups, workspaceId, change, stored, now);
      // Callers do not see deleted groups. So the groups that they see count as the current ones.
      const current = { ...stored, groupIds: selectKnown(stored, known) };
      const next = changeMember(current, change, now);
      if (isAcceptedAdmin(current) && !isAcceptedAdmin(next)) await requireOtherAdmin(members, current);
      if (next !== current) {
        const isAccepted = current.invitationExpiresAt !== null && next.invitationExpiresAt === null;
        const type = isAccepted ? 'member.accepted' : 'member.updated';
        await events.add(this.newEvent(workspaceId, type, { memberId: id }));
        await members.update(workspaceId, id, () => next);
      }
      return toView(next, known, now);
    });
  }

  /**
   * Accepts the invitation of a member. If it is accepted already, changes nothing. Rejects with `invitation_expired`
   * if it has expired.
   */
  async accept(workspaceId: string, id: string): Promise<MemberView> {
    const now = this.storageClock.now();
    const accept = (it: Member): Member => acceptInvitation(it, now);
    const member = await this.unitOfWork.run(async ({ members, events }) => {
      const current = requireFound(await members.findById(workspaceId, id), 'member');
      const isChanged = accept(current) !== current;
      if (isChanged) await events.add(this.newEvent(workspaceId, 'member.accepted', { memberId: id }));
      return requireFound(await members.update(workspaceId, id, accept), 'member');
    });
    return this.readView(member);
  }

  async get(workspaceId: string, id: string): Promise<MemberView> {
    return this.readView(requireFound(await this.members.findById(workspaceId, id), 'member'));
  }

  /** Returns the member with this ID or email address (case-insensitive), or `undefined`. */
  async find(workspaceId: string, idOrEmail: string): Promise<MemberView | undefined> {
    const { members } = this;
    const member = idOrEmail.includes('@')
      ? await members.findByEmail(workspaceId, idOrEmail)
      : await members.findById(workspaceId, idOrEmail.toLowerCase());
    return member && this.readView(member);
  }

  /** Returns a page of the members that match all filters. The IDs of deleted groups match nothing. */
  async list(workspaceId: string, query: MemberFilter & PageRequest): Promise<Page<MemberView>> {
    const now = this.storageClock.now();
    const groupIds = await findExistingGroupIds(this.groups, workspaceId, query.groupIds);
    const { items, hasNext } = await this.members.findPage(workspaceId, { ...query, groupIds }, now, query);
    const known = await findKnownIds(
      this.groups,
      workspaceId,
      items.flatMap((member) => member.groupIds),
    );
    return { items: items.map((member) => toView(member, known, now)), hasNext };
  }

  /**
   * Deletes a member, and revokes all API keys of the member. Other records keep the ID. Rejects with `conflict` if no
   * admin with an accepted invitation would be left.
   */
  remove(workspaceId: string, id: string): Promise<void> {
    const revokedAt = formatTimestamp(this.storageClock.now());
    return this.unitOfWork.run(async ({ members, events }) => {
      const member = requireFound(await members.findById(workspaceId, id), 'member');
      if (isAcceptedAdmin(member)) await requireOtherAdmin(members, member);
      await events.add(this.newEvent(workspaceId, 'member.deleted', { memberId: id }));
      await members.revokeKeys(workspaceId, id, revokedAt);
      await members.remove(workspaceId, id);
    });
  }

  private async readView(member: Member): Promise<MemberView> {
    const known = await findKnownIds(this.groups, member.workspaceId, member.groupIds);
    return toView(member, known, this.storageClock.now());
  }
}

/**
 * Rejects with `invalid` if a field of a change is not allowed. `member` is the member to change, if it exists already.
 * Returns the IDs of all existing groups of the member and the change.
 */
async function requireValid(
  groups: GroupRepository,
  workspaceId: string,
  change: MemberChange,
  member: Member | undefined,
  now: number,
): Promise<ReadonlySet<string>> {
  const ids = [...(change.groups ?? []), ...(member?.groupIds ?? [])];
  const known = await findKnownIds(groups, workspaceId, ids);
  const errors = [
    ...findGroupReferenceErrors(known, 'groups', change.groups),
    ...findExpiryErrors(member?.invitationExpiresAt, change, now),
  ];
  if (errors.length > 0) throw createInvalidFieldsError(errors);
  return known;
}

/**
 * Rejects with `conflict` if no other admin of the workspace has an accepted invitation. Otherwise writes the other
 * admin without a change. So if two admins demote each other at the same time, both write both members: one of the
 * transactions runs again, and finds no other admin.
 */
async function requireOtherAdmin(members: MemberRepository, { workspaceId, id }: Member): Promise<void> {
  const other = await members.findOtherAdmin(workspaceId, id);
  if (!other) throw new CoreError('conflict', ...LAST_ADMIN);
  await members.update(workspaceId, other.id, (it) => ({ ...it }));
}

function selectKnown({ groupIds }: Member, known: ReadonlySet<string>): readonly string[] {
  return groupIds.filter((id) => known.has(id));
}

function toView(member: Member, known: ReadonlySet<string>, now: number): MemberView {
  return { ...withInvitation(member, now), groups: selectKnown(member, known) };
}
