import { createInvalidFieldsError, type FieldError } from '../shared/core-error.ts';
import { findKnownIds, findReferenceErrors } from '../shared/references.ts';
import type { GroupRepository } from './group-repository.ts';

export function findGroupReferenceErrors(
  known: ReadonlySet<string>,
  field: string,
  ids: readonly string[] | undefined,
): readonly FieldError[] {
  return findReferenceErrors(known, field, ids, 'must be the ID of a group of this workspace');
}

/** Rejects with `invalid` if an ID in a field is not the ID of a group of the workspace. */
export async function requireGroups(
  groups: GroupRepository,
  workspaceId: string,
  field: string,
  ids: readonly string[] = [],
): Promise<void> {
  const errors = findGroupReferenceErrors(await findKnownIds(groups, workspaceId, ids), field, ids);
  if (errors.length > 0) throw createInvalidFieldsError(errors);
}
