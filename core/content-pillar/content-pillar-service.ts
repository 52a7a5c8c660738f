import { applyChanges } from '../shared/changes.ts';
import { requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import {
  type ContentPillar,
  type ContentPillarChange,
  type NewContentPillarFields,
  newContentPillar,
} from './content-pillar.ts';
import type { ContentPillarFilter } from './content-pillar-repository.ts';

export type ContentPillarQuery = ContentPillarFilter & PageRequest;

/** The use cases of content pillars. */
export class ContentPillarService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  /** Creates a published pillar. Rejects with `not_found` if the workspace does not have the author. */
  async create(workspaceId: string, fields: NewContentPillarFields): Promise<ContentPillar> {
    requireFound(await this.storage.members.findById(workspaceId, fields.authorId), 'member');
    const pillar = newContentPillar(workspaceId, this.system.newId(), fields, this.system.now());
    await this.storage.contentPillars.add(pillar);
    return pillar;
  }

  /** Returns a pillar. Rejects with `not_found` if the workspace does not have it. */
  async get(workspaceId: string, id: string): Promise<ContentPillar> {
    return requireFound(await this.storage.contentPillars.findById(workspaceId, id), 'content pillar');
  }

  /** Returns a page of the pillars that match all filters, including archived pillars. */
  async list(workspaceId: string, query: ContentPillarQuery): Promise<Page<ContentPillar>> {
    // `query` is both the filter and the request of a page.
    return this.storage.contentPillars.findPage(workspaceId, query, query);
  }

  /** Iterates over all pillars, including archived pillars, in the order of their IDs. */
  iterate(workspaceId: string): AsyncIterable<ContentPillar> {
    return this.storage.contentPillars.iterate(workspaceId);
  }

  /** Updates a pillar. Rejects with `not_found` if the workspace does not have it. */
  async update(workspaceId: string, id: string, change: ContentPillarChange): Promise<ContentPillar> {
    const now = this.system.now();
    const apply = (pillar: ContentPillar): ContentPillar => applyChanges(pillar, change, now);
    return requireFound(await this.storage.contentPillars.update(workspaceId, id, apply), 'content pillar');
  }

  /** Deletes a pillar. Campaigns that refer to it are unchanged. Rejects with `not_found` if the workspace does not have it. */
  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound((await this.storage.contentPillars.remove(workspaceId, id)) || undefined, 'content pillar');
  }
}
