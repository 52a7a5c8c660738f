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

export type TagRepository = RecordStore<Tag>;

export const tagSchema: RecordSchema<Tag> = {
  name: 'tags',
  unique: { foldedName: 'The workspace has a tag of this name: choose another one.' },
  indexes: [['color', 'createdAt']],
};

export const TAG_NAME = { min: 1, max: 190 };

/** The list filter `tagNames` is separated by commas, so a name has none. */
export function tagNameProblem(name: string): string | undefined {
  return name.includes(',') ? 'must not contain a comma' : undefined;
}

/** The colour that the fewest tags have; on a tie the first of them. */
export function leastUsedColor(uses: Readonly<Record<Color, number>>): Color {
  return COLORS.reduce((least, color) => (uses[color] < uses[least] ? color : least));
}
