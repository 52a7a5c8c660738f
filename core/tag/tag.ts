import { COLORS, type Color } from '../shared/color.ts';
import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';

/** A label of campaigns. */
export interface Tag extends Entity {
  readonly name: string;
  readonly foldedName: string;
  readonly color: Color;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type TagRecordStore = RecordStore<Tag>;

export const tagSchema: RecordSchema<Tag> = {
  name: 'tags',
  unique: { foldedName: 'This workspace already has a tag with this name. Choose another name.' },
  indexes: [['color', 'createdAt']],
};

export const TAG_NAME_LENGTH = { min: 1, max: 190 };

/** Returns the problem of a name, or `undefined`. The list filter `tagNames` separates names with commas. */
export function findTagNameProblem(name: string): string | undefined {
  return name.includes(',') ? 'must not contain a comma' : undefined;
}

/** Returns the least used color. If several colors are the least used, returns the first of them. */
export function findLeastUsedColor(useCounts: Readonly<Record<Color, number>>): Color {
  return COLORS.reduce((least, color) => (useCounts[color] < useCounts[least] ? color : least));
}
