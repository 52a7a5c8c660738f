import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** A named set of members of a workspace. */
export interface Group extends Entity {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
}

export interface NewGroup {
  readonly name: string;
  readonly description?: string | undefined;
}

export const GROUP_NAME_LENGTH = { min: 1, max: 190 };
export const GROUP_NAME_TAKEN = 'This workspace already has a group with this name. Choose another name.';

export function newGroup(workspaceId: string, id: string, { name, description = '' }: NewGroup, now: number): Group {
  return { id, workspaceId, name, description, createdAt: formatTimestamp(now) };
}
