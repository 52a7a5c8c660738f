import type { Color } from '../shared/color.ts';
import type { Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';
import { buildSearchText, fold } from '../shared/text.ts';

export const CONTENT_PILLAR_STATUSES = ['published', 'archived'] as const;
export type ContentPillarStatus = (typeof CONTENT_PILLAR_STATUSES)[number];

/** A themed category of campaigns. It can change from published to archived and back. */
export interface ContentPillar extends Entity {
  readonly title: string;
  readonly foldedTitle: string;
  readonly description: string;
  readonly color: Color;
  readonly status: ContentPillarStatus;
  readonly authorId: string;
  readonly searchText: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type ContentPillarRecordStore = RecordStore<ContentPillar>;

export const contentPillarSchema: RecordSchema<ContentPillar> = {
  name: 'contentPillars',
  unique: {},
  indexes: [['createdAt'], ['foldedTitle']],
};

export const CONTENT_PILLAR_TITLE_LENGTH = { min: 1, max: 100 };
export const CONTENT_PILLAR_DESCRIPTION_LENGTH = { max: 1500 };

/** Returns the fields that are derived from the title and the description. */
export function deriveContentPillarFields({ title, description }: Pick<ContentPillar, 'title' | 'description'>) {
  return { foldedTitle: fold(title), searchText: buildSearchText(title, description) };
}
