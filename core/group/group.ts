import type { FieldError } from '../shared/core-error.ts';
import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';
import { knownIds, referenceErrors, throwIfInvalid } from '../shared/references.ts';

/** A set of users of a workspace. */
export interface Group extends Entity {
  readonly name: string;
  readonly foldedName: string;
  readonly description: string;
  readonly createdAt: string;
}

export type GroupRepository = RecordStore<Group>;

export const groupSchema: RecordSchema<Group> = {
  name: 'groups',
  unique: { foldedName: 'The workspace has a group of this name: choose another one.' },
  indexes: [['createdAt']],
};

export const GROUP_NAME = { min: 1, max: 190 };

/** The faults of ids in a field that are none of the known groups of the workspace. */
export function groupReferenceErrors(
  known: ReadonlySet<string>,
  field: string,
  ids: readonly string[] = [],
): readonly FieldError[] {
  return referenceErrors(known, ids, (index) => `${field}.${index}`, 'is no group of the workspace');
}

/** Refuses with `invalid` ids in a field that name no group of the workspace. */
export async function requireGroups(
  groups: GroupRepository,
  workspaceId: string,
  field: string,
  ids: readonly string[] = [],
): Promise<void> {
  throwIfInvalid(groupReferenceErrors(await knownIds(groups, workspaceId, ids), field, ids));
}
