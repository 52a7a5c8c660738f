import { GROUP_NAME_TAKEN, type Group } from '../../core/group/group.ts';
import type { GroupRepository } from '../../core/group/group-repository.ts';
import { fold } from '../../core/shared/text.ts';
import type { RecordStore } from './record-store.ts';
import { createMapping, createRepository, findByUnique, findKnownIds } from './repository.ts';
import { defineSchema } from './schema.ts';

interface GroupColumns {
  readonly foldedName: string;
}

export type GroupRecord = Group & GroupColumns;

export const groupSchema = defineSchema<Group, GroupColumns>({
  derived: { foldedName: ({ name }) => fold(name) },
  columns: { foldedName: 'text', createdAt: 'text' },
  unique: { foldedName: GROUP_NAME_TAKEN },
  indexes: [['createdAt']],
});

export function createGroupRepository(store: RecordStore<GroupRecord>): GroupRepository {
  const mapping = createMapping(groupSchema);
  return {
    ...createRepository(store, mapping),
    async findByNames(workspaceId, names) {
      return (await findByUnique(store, workspaceId, 'foldedName', names.map(fold))).map(mapping.toEntity);
    },
    findKnownIds: (workspaceId, ids) => findKnownIds(store, workspaceId, ids),
  };
}
