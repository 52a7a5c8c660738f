import { applyChanges, type Changes } from '../shared/changes.ts';
import { createNotFoundError, requireFound } from '../shared/core-error.ts';
import type { NameFilter } from '../shared/name-filter.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import { findLeastUsedColor, newTag, type Tag, type TagFields } from './tag.ts';
import type { TagRepository } from './tag-repository.ts';

export class TagService {
  constructor(
    private readonly tags: TagRepository,
    private readonly system: System,
  ) {}

  /**
   * Creates a tag with the color that is least used in the workspace. Concurrent creations can get the same color,
   * because nothing is locked. Rejects with `conflict` if another tag has the name (case-insensitive).
   */
  async create(workspaceId: string, fields: TagFields): Promise<Tag> {
    const color = findLeastUsedColor(await this.tags.countByColor(workspaceId));
    const tag = newTag(workspaceId, this.system.newId(), fields, color, this.system.now());
    await this.tags.add(tag);
    return tag;
  }

  /** Changes fields of a tag. Rejects with `conflict` if another tag has the name (case-insensitive). */
  async update(workspaceId: string, id: string, changes: Changes<TagFields>): Promise<Tag> {
    const now = this.system.now();
    const apply = (tag: Tag): Tag => applyChanges(tag, changes, now);
    return requireFound(await this.tags.update(workspaceId, id, apply), 'tag');
  }

  async get(workspaceId: string, id: string): Promise<Tag> {
    return requireFound(await this.tags.findById(workspaceId, id), 'tag');
  }

  async list(workspaceId: string, query: NameFilter & PageRequest): Promise<Page<Tag>> {
    return this.tags.findPage(workspaceId, query, query);
  }

  /** Deletes a tag. Campaigns keep its ID, but filters and briefs ignore the ID. */
  async remove(workspaceId: string, id: string): Promise<void> {
    if (!(await this.tags.remove(workspaceId, id))) throw createNotFoundError('tag');
  }
}
