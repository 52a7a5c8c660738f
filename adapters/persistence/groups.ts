import { GROUP_NAME_TAKEN, type Group } from '../../core/group/group.ts';
import type { GroupRepository } from '../../core/group/group-repository.ts';
import type { Member } from '../../core/member/member.ts';
import { fold } from '../../core/shared/text.ts';
import { type NameColumns, toNameQuery } from './name-query.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';

export type GroupRecord = Group & NameColumns;

export const groupSchema = defineSchema<Group, NameColumns>({
  derived: { foldedName: ({ name }) => fold(name) },
  columns: { foldedName: 'text', createdAt: 'text' },
  unique: { foldedName: GROUP_NAME_TAKEN },
  indexes: [['createdAt'], ['foldedName']],
});

export function createGroupRepository(store: RecordStore<GroupRecord>, members: RecordStore<Member>): GroupRepository {
  return {
    countMembers: (workspaceId, groupId) => members.count(workspaceId, [{ field: 'groupIds', in: [groupId] }]),
    findPage: (workspaceId, filter, request) =>
      readPage(store, workspaceId, toNameQuery<GroupRecord>(filter), request, groupSchema.toEntity),
    ...createRepository(store, groupSchema),
  };
}
