import type { Actor } from '../shared/actor.ts';
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

/** Returns the actor without the deleted groups of its member: members keep the IDs of deleted groups. */
export async function selectExistingGroups<A extends Actor>(groups: GroupRepository, actor: A): Promise<A> {
  const { workspaceId, member } = actor;
  if (!member || member.groupIds.length === 0) return actor;
  const known = await findKnownIds(groups, workspaceId, member.groupIds);
  return { ...actor, member: { ...member, groupIds: member.groupIds.filter((id) => known.has(id)) } };
}

/**
 * Returns the IDs of a filter without those of deleted groups. Records keep these IDs, but no filter finds a record by
 * them.
 */
export async function findExistingGroupIds(
  groups: GroupRepository,
  workspaceId: string,
  ids: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  return ids && [...(await findKnownIds(groups, workspaceId, ids))];
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
