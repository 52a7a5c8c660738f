import { addValidEntities, type BatchResult } from '../shared/batch.ts';
import { applyChanges } from '../shared/changes.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import type { Storage } from '../storage.ts';
import { findLeastUsedColor, newTag, TAG_NAME_TAKEN, type Tag } from './tag.ts';
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

  /** Checks a batch of names without storing it. Each result is the tag to add, or the error with which `create` would reject. */
  async buildMany(workspaceId: string, names: readonly string[]): Promise<readonly BatchResult<Tag>[]> {
    const takenNames = new Set((await this.storage.tags.findByNames(workspaceId, names)).map(({ name }) => fold(name)));
    const useCounts = await this.storage.tags.countByColor(workspaceId);
    return names.map((name) => {
      if (takenNames.has(fold(name))) return new CoreError('conflict', TAG_NAME_TAKEN);
      takenNames.add(fold(name));
      const color = findLeastUsedColor(useCounts);
      useCounts[color]++;
      return newTag(workspaceId, this.system.newId(), name, color, this.system.now());
    });
  }

  /**
   * Creates a batch. If `ids` are given, the tags get these IDs, so that a retry with the same IDs adds none of them twice
   * (`addValidEntities` in batch.ts).
   */
  async createMany(
    workspaceId: string,
    names: readonly string[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<Tag>[]> {
    return addValidEntities(this.storage.tags, workspaceId, await this.buildMany(workspaceId, names), ids);
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
