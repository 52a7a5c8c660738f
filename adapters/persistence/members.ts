import { EMAIL_TAKEN, type Member } from '../../core/member/member.ts';
import type { MemberFilter, MemberRepository } from '../../core/member/member-repository.ts';
import { fold } from '../../core/shared/text.ts';
import { type ApiKeyOwner, type ApiKeyRecord, revokeKeys } from './api-keys.ts';
import { type NameColumns, toNameQuery } from './name-query.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { createRepository, findByUnique, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';
import { buildSearchText } from './search-text.ts';

interface MemberColumns extends NameColumns {
  readonly foldedEmail: string;
  readonly searchText: string;
  /** Whether the invitation is accepted. */
  readonly accepted: boolean;
  /** `invitationExpiresAt` in milliseconds since the epoch, or 0. */
  readonly invitationEndsAt: number;
}

export type MemberRecord = Member & MemberColumns;

export const memberSchema = defineSchema<Member, MemberColumns>({
  derived: {
    foldedName: ({ name }) => fold(name),
    foldedEmail: ({ email }) => fold(email),
    searchText: ({ name, email }) => buildSearchText(name, email),
    accepted: ({ invitationExpiresAt }) => invitationExpiresAt === null,
    invitationEndsAt: ({ invitationExpiresAt }) => Date.parse(invitationExpiresAt ?? '1970-01-01'),
  },
  columns: {
    foldedName: 'text',
    foldedEmail: 'text',
    searchText: 'text',
    role: 'text',
    seatType: 'text',
    groupIds: 'texts',
    accepted: 'boolean',
    invitationEndsAt: 'number',
    createdAt: 'text',
  },
  unique: { foldedEmail: EMAIL_TAKEN },
  indexes: [
    ['accepted', 'createdAt'],
    ['accepted', 'foldedName'],
    ['seatType', 'createdAt'],
    ['seatType', 'foldedName'],
    ['role', 'createdAt'],
    ['role', 'foldedName'],
    ['groupIds', 'createdAt'],
    ['groupIds', 'foldedName'],
  ],
  defaults: { invitationExpiresAt: null },
});

export function createMemberRepository(
  store: RecordStore<MemberRecord>,
  apiKeys: RecordStore<ApiKeyRecord>,
  owners: RecordStore<ApiKeyOwner>,
): MemberRepository {
  return {
    findByEmail: async (workspaceId, email) =>
      (await findByUnique(store, memberSchema, workspaceId, 'foldedEmail', [fold(email)]))[0],
    findPage(workspaceId, filter, now, request) {
      const query = { ...toNameQuery<MemberRecord>(filter), where: toConditions(filter, now) };
      return readPage(store, workspaceId, query, request, memberSchema.toEntity);
    },
    async findOtherAdmin(workspaceId, id) {
      const where: Condition<MemberRecord>[] = [
        { field: 'accepted', in: [true] },
        { field: 'role', in: ['admin'] },
      ];
      const query = { where, by: 'createdAt', order: 'asc' } as const;
      const { items } = await readPage(store, workspaceId, query, { page: 1, pageSize: 2 }, memberSchema.toEntity);
      return items.find((admin) => admin.id !== id);
    },
    revokeKeys: (workspaceId, memberId, revokedAt) => revokeKeys(apiKeys, owners, workspaceId, memberId, revokedAt),
    ...createRepository(store, memberSchema),
  };
}

function toConditions({ search, role, seatType, groupIds, invitation }: MemberFilter, now: number) {
  const where: Condition<MemberRecord>[] = [];
  if (role) where.push({ field: 'role', in: [role] });
  if (seatType) where.push({ field: 'seatType', in: [seatType] });
  if (groupIds) where.push({ field: 'groupIds', in: groupIds });
  if (invitation) where.push({ field: 'accepted', in: [invitation === 'accepted'] });
  // The index has the open invitations in the order of the list. Their ends are compared while it is read.
  if (invitation === 'pending') where.push({ field: 'invitationEndsAt', from: now + 1 });
  if (invitation === 'expired') where.push({ field: 'invitationEndsAt', to: now });
  if (search) where.push({ field: 'searchText', contains: fold(search) });
  return where;
}
