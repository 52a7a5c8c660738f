import { COLORS, type Color } from '../shared/color.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** A label of campaigns. */
export interface Tag extends Entity {
  readonly name: string;
  readonly color: Color;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The fields of a tag that can be set. */
export type TagFields = Pick<Tag, 'name'>;

export const TAG_NAME_TAKEN = [
  'This workspace already has a tag with this name. Choose another name.',
  'name_taken',
] as const;

export function newTag(workspaceId: string, id: string, fields: TagFields, color: Color, now: number): Tag {
  const createdAt = formatTimestamp(now);
  return { id, workspaceId, ...fields, color, createdAt, updatedAt: createdAt };
}

/**
 * Returns the problem of a name, or `undefined`. A comma is not allowed, because the list filter `tagNames` separates
 * names with it.
 */
export function findTagNameProblem(name: string): string | undefined {
  return name.includes(',') ? 'must not contain a comma' : undefined;
}

/** Returns the least used color. If several colors are the least used, returns the first of them. */
export function findLeastUsedColor(useCounts: Readonly<Record<Color, number>>): Color {
  return COLORS.reduce((least, color) => (useCounts[color] < useCounts[least] ? color : least));
}
