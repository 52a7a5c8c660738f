import type { Changes } from '../shared/changes.ts';
import type { Color } from '../shared/color.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

export const CONTENT_PILLAR_STATUSES = ['published', 'archived'] as const;
export type ContentPillarStatus = (typeof CONTENT_PILLAR_STATUSES)[number];

export const CONTENT_PILLAR_SORTS = ['title', 'createdAt'] as const;
export type ContentPillarSort = (typeof CONTENT_PILLAR_SORTS)[number];

/** A themed category of campaigns. Its status can change in both directions. */
export interface ContentPillar extends Entity {
  readonly title: string;
  readonly description: string;
  readonly color: Color;
  readonly status: ContentPillarStatus;
  readonly authorId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type NewContentPillarFields = Pick<ContentPillar, 'title' | 'color'> &
  Changes<Pick<ContentPillar, 'description'>>;
export type ContentPillarChange = Changes<Pick<ContentPillar, 'title' | 'description' | 'color' | 'status'>>;

export function newContentPillar(
  workspaceId: string,
  id: string,
  authorId: string,
  { title, color, description = '' }: NewContentPillarFields,
  now: number,
): ContentPillar {
  const createdAt = formatTimestamp(now);
  const status = 'published';
  return { id, workspaceId, title, description, color, status, authorId, createdAt, updatedAt: createdAt };
}
