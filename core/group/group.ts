import type { Fault } from '../shared/error.ts';
import type { Entity, Kind, Records } from '../shared/records.ts';
import { knownIds, requireNone, unknownReferences } from '../shared/references.ts';

/** A set of users of a workspace. */
export interface Group extends Entity {
  readonly name: string;
  readonly foldedName: string;
  readonly description: string;
  readonly createdAt: string;
}

export type GroupRepository = Records<Group>;

export const groupKind: Kind<Group> = {
  name: 'groups',
  unique: { foldedName: 'The workspace has a group of this name: choose another one.' },
  indexes: [['createdAt']],
};

export const GROUP_NAME = { min: 1, max: 190 };

/** The faults of ids in a field that are none of the known groups of the workspace. */
export function unknownGroups(
  known: ReadonlySet<string>,
  field: string,
  ids: readonly string[] = [],
): readonly Fault[] {
  return unknownReferences(known, ids, (index) => `${field}.${index}`, 'is no group of the workspace');
}

/** Refuses with `invalid` ids in a field that name no group of the workspace. */
export async function requireGroups(
  groups: GroupRepository,
  workspaceId: string,
  field: string,
  ids: readonly string[] = [],
): Promise<void> {
  requireNone(unknownGroups(await knownIds(groups, workspaceId, ids), field, ids));
}
