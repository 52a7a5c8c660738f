import type { MemberActor } from '../shared/actor.ts';
import { applyChanges } from '../shared/changes.ts';
import { createNotFoundError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import {
  type ContentPillar,
  type ContentPillarChange,
  type NewContentPillarFields,
  newContentPillar,
} from './content-pillar.ts';
import type { ContentPillarFilter, ContentPillarRepository } from './content-pillar-repository.ts';

export type ContentPillarQuery = ContentPillarFilter & PageRequest;

export class ContentPillarService {
  constructor(
    private readonly contentPillars: ContentPillarRepository,
    private readonly system: System,
  ) {}

  /** Creates a published pillar. Its author is the member of the actor. */
  async create({ workspaceId, member }: MemberActor, fields: NewContentPillarFields): Promise<ContentPillar> {
    const pillar = newContentPillar(workspaceId, this.system.newId(), member.id, fields, this.system.now());
    await this.contentPillars.add(pillar);
    return pillar;
  }

  async get(workspaceId: string, id: string): Promise<ContentPillar> {
    return requireFound(await this.contentPillars.findById(workspaceId, id), 'content pillar');
  }

  async list(workspaceId: string, query: ContentPillarQuery): Promise<Page<ContentPillar>> {
    return this.contentPillars.findPage(workspaceId, query, query);
  }

  async update(workspaceId: string, id: string, change: ContentPillarChange): Promise<ContentPillar> {
    const now = this.system.now();
    const apply = (pillar: ContentPillar): ContentPillar => applyChanges(pillar, change, now);
    return requireFound(await this.contentPillars.update(workspaceId, id, apply), 'content pillar');
  }

  /** Deletes a pillar. Campaigns that refer to it are unchanged. */
  async remove(workspaceId: string, id: string): Promise<void> {
    if (!(await this.contentPillars.remove(workspaceId, id))) throw createNotFoundError('content pillar');
  }
}
