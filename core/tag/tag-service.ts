import { addValidRecords, type BatchResult, findTakenNames } from '../shared/batch.ts';
import { applyChanges } from '../shared/changes.ts';
import { COLORS, type Color } from '../shared/color.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { findLeastUsedColor, type Tag, type TagRecordStore, tagSchema } from './tag.ts';

/** The use cases of tags. */
export class TagService {
  constructor(
    private readonly tags: TagRecordStore,
    private readonly system: System,
  ) {}

  /**
   * Creates a tag with the color that is least used in the workspace. Concurrent creations can get the same color, because
   * nothing is locked. Rejects with `conflict` if another tag has the name (case-insensitive).
   */
  async create(workspaceId: string, name: string): Promise<Tag> {
    const tag = this.newTag(workspaceId, name, findLeastUsedColor(await this.countColorUses(workspaceId)));
    await this.tags.add(tag);
    return tag;
  }

  /** Checks a batch of names without storing it. Each result is the tag to add, or the error of `create`. */
  async checkMany(workspaceId: string, names: readonly string[]): Promise<readonly BatchResult<Tag>[]> {
    const takenNames = await findTakenNames(this.tags, workspaceId, names.map(fold));
    const useCounts = await this.countColorUses(workspaceId);
    return names.map((name) => {
      const tag = this.newTag(workspaceId, name, findLeastUsedColor(useCounts));
      if (takenNames.has(tag.foldedName)) return new CoreError('conflict', tagSchema.unique.foldedName as string);
      takenNames.add(tag.foldedName);
      useCounts[tag.color]++;
      return tag;
    });
  }

  /** Creates a batch. With `ids`, the call can be retried (`addValidRecords` in batch.ts). */
  async createMany(
    workspaceId: string,
    names: readonly string[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<Tag>[]> {
    return addValidRecords(this.tags, workspaceId, await this.checkMany(workspaceId, names), ids);
  }

  /**
   * Renames a tag. Its color is unchanged. Rejects with `not_found` if the workspace does not have the tag, and with
   * `conflict` if another tag has the name (case-insensitive).
   */
  async rename(workspaceId: string, id: string, name: string): Promise<Tag> {
    const now = this.system.now();
    const rename = (tag: Tag): Tag => applyChanges(tag, { name, foldedName: fold(name) }, now);
    return requireFound(await this.tags.update(workspaceId, id, rename), 'tag');
  }

  /** Iterates over all tags in creation order. */
  iterate(workspaceId: string): AsyncIterable<Tag> {
    return iterateById((after, take) => this.tags.listById(workspaceId, after, take));
  }

  private newTag(workspaceId: string, name: string, color: Color): Tag {
    const now = formatTimestamp(this.system.now());
    return {
      id: this.system.newId(),
      workspaceId,
      name,
      foldedName: fold(name),
      color,
      createdAt: now,
      updatedAt: now,
    };
  }

  private async countColorUses(workspaceId: string): Promise<Record<Color, number>> {
    const count = async (color: Color) => [color, await this.tags.count(workspaceId, [{ field: 'color', is: color }])];
    return Object.fromEntries(await Promise.all(COLORS.map(count)));
  }
}
