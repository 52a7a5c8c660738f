import { applyChanges } from '../shared/changes.ts';
import { requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { findLeastUsedColor, newTag, type Tag } from './tag.ts';
import type { TagFilter } from './tag-repository.ts';

/** The use cases of tags. */
export class TagService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  /**
   * Creates a tag with the color that is least used in the workspace. Concurrent creations can get the same color, because
   * nothing is locked. Rejects with `conflict` if another tag has the name (case-insensitive).
   */
  async create(workspaceId: string, name: string): Promise<Tag> {
    const color = findLeastUsedColor(await this.storage.tags.countByColor(workspaceId));
    const tag = newTag(workspaceId, this.system.newId(), name, color, this.system.now());
    await this.storage.tags.add(tag);
    return tag;
  }

  /**
   * Renames a tag. Its color is unchanged. Rejects with `not_found` if the workspace does not have the tag, and with
   * `conflict` if another tag has the name (case-insensitive).
   */
  async rename(workspaceId: string, id: string, name: string): Promise<Tag> {
    const now = this.system.now();
    const rename = (tag: Tag): Tag => applyChanges(tag, { name }, now);
    return requireFound(await this.storage.tags.update(workspaceId, id, rename), 'tag');
  }

  /** Returns a tag. Rejects with `not_found` if the workspace does not have it. */
  async get(workspaceId: string, id: string): Promise<Tag> {
    return requireFound(await this.storage.tags.findById(workspaceId, id), 'tag');
  }

  /** Returns a page of the tags whose name contains the search term. */
  async list(workspaceId: string, query: TagFilter & PageRequest): Promise<Page<Tag>> {
    // `query` is both the filter and the request of a page.
    return this.storage.tags.findPage(workspaceId, query, query);
  }

  /**
   * Deletes a tag. Campaigns keep its ID, but filters and briefs ignore the ID. Rejects with `not_found` if the workspace does not
   * have the tag.
   */
  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound((await this.storage.tags.remove(workspaceId, id)) || undefined, 'tag');
  }

  /** Iterates over all tags in the order of their IDs. */
  iterate(workspaceId: string): AsyncIterable<Tag> {
    return this.storage.tags.iterate(workspaceId);
  }
}
