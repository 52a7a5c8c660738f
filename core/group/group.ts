import type { Changes } from '../shared/changes.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** A named set of members of a workspace. */
export interface Group extends Entity {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
}

export type NewGroupFields = Pick<Group, 'name'> & Changes<Pick<Group, 'description'>>;

export type GroupChange = Changes<Pick<Group, 'name' | 'description'>>;

export const GROUP_NAME_TAKEN = [
  'This workspace already has a group with this name. Choose another name.',
  'name_taken',
] as const;

export function newGroup(
  workspaceId: string,
  id: string,
  { name, description = '' }: NewGroupFields,
  now: number,
): Group {
  return { id, workspaceId, name, description, createdAt: formatTimestamp(now) };
}

/** Returns the group with the given fields changed, or the same group if nothing changes. */
export function changeGroup(group: Group, { name = group.name, description = group.description }: GroupChange): Group {
  return name === group.name && description === group.description ? group : { ...group, name, description };
}
