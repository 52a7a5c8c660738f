import type { FieldError } from '../shared/core-error.ts';
import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';
import { findKnownIds, findReferenceErrors, throwIfInvalid } from '../shared/references.ts';

/** A named set of members of a workspace. */
export interface Group extends Entity {
  readonly name: string;
  readonly foldedName: string;
  readonly description: string;
  readonly createdAt: string;
}

export type GroupRecordStore = RecordStore<Group>;

export const groupSchema: RecordSchema<Group> = {
  name: 'groups',
  unique: { foldedName: 'This workspace already has a group with this name. Choose another name.' },
  indexes: [['createdAt']],
};

export const GROUP_NAME_LENGTH = { min: 1, max: 190 };

/** Returns an error for each id in a field that is not the id of a known group. */
export function findGroupReferenceErrors(
  known: ReadonlySet<string>,
  field: string,
  ids: readonly string[] = [],
): readonly FieldError[] {
  return findReferenceErrors(known, ids, (index) => `${field}.${index}`, 'must be the id of a group of this workspace');
}

/** Rejects with `invalid` if one of the ids in a field is not the id of a group of the workspace. */
export async function requireGroups(
  groups: GroupRecordStore,
  workspaceId: string,
  field: string,
  ids: readonly string[] = [],
): Promise<void> {
  throwIfInvalid(findGroupReferenceErrors(await findKnownIds(groups, workspaceId, ids), field, ids));
}
