import type { MemberRecordStore } from '../access/member.ts';
import { applyChanges } from '../shared/changes.ts';
import type { Color } from '../shared/color.ts';
import { requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition, Order } from '../shared/record-store.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import {
  type ContentPillar,
  type ContentPillarRecordStore,
  type ContentPillarStatus,
  deriveContentPillarFields,
} from './content-pillar.ts';

export interface NewContentPillar {
  readonly authorId: string;
  readonly title: string;
  readonly color: Color;
  readonly description?: string | undefined;
}

export interface ContentPillarChange {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly color?: Color | undefined;
  readonly status?: ContentPillarStatus | undefined;
}

export const CONTENT_PILLAR_SORTS = ['title', 'createdAt'] as const;

export interface ContentPillarQuery extends PageRequest {
  readonly sortBy: (typeof CONTENT_PILLAR_SORTS)[number];
  readonly sortOrder: Order;
  readonly search?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** The use cases of content pillars. */
export class ContentPillarService {
  constructor(
    private readonly contentPillars: ContentPillarRecordStore,
    private readonly members: MemberRecordStore,
    private readonly system: System,
  ) {}

  /** Creates a published pillar. Rejects with `not_found` if the workspace does not have the author. */
  async create(
    workspaceId: string,
    { authorId, title, color, description = '' }: NewContentPillar,
  ): Promise<ContentPillar> {
    requireFound(await this.members.get(workspaceId, authorId), 'member');
    const now = formatTimestamp(this.system.now());
    const pillar: ContentPillar = {
      id: this.system.newId(),
      workspaceId,
      title,
      description,
      color,
      status: 'published',
      authorId,
      ...deriveContentPillarFields({ title, description }),
      createdAt: now,
      updatedAt: now,
    };
    await this.contentPillars.add(pillar);
    return pillar;
  }

  /** Returns a page of the pillars that match all filters, including archived pillars. */
  async list(
    workspaceId: string,
    { sortBy, sortOrder, search, ids, ...page }: ContentPillarQuery,
  ): Promise<Page<ContentPillar>> {
    const where: Condition<ContentPillar>[] = [];
    if (ids) where.push({ field: 'id', in: ids });
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    const by = sortBy === 'title' ? 'foldedTitle' : 'createdAt';
    return readPage(this.contentPillars, workspaceId, { where, by, order: sortOrder }, page);
  }

  /** Iterates over all pillars, including archived pillars, in creation order. */
  iterate(workspaceId: string): AsyncIterable<ContentPillar> {
    return iterateById((after, take) => this.contentPillars.listById(workspaceId, after, take));
  }

  /** Updates a pillar. Rejects with `not_found` if the workspace does not have it. */
  async update(workspaceId: string, id: string, change: ContentPillarChange): Promise<ContentPillar> {
    const now = this.system.now();
    const apply = (pillar: ContentPillar): ContentPillar => {
      const next = applyChanges(pillar, change, now);
      return next === pillar ? pillar : { ...next, ...deriveContentPillarFields(next) };
    };
    return requireFound(await this.contentPillars.update(workspaceId, id, apply), 'content pillar');
  }

  /** Deletes a pillar. Campaigns that refer to it are unchanged. Rejects with `not_found` if the workspace does not have it. */
  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound((await this.contentPillars.remove(workspaceId, id)) || undefined, 'content pillar');
  }
}
