import { addAll, type BatchResult, takenNames } from '../shared/batch.ts';
import { withChanges } from '../shared/changes.ts';
import { COLORS, type Color } from '../shared/color.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { timestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { leastUsedColor, type Tag, type TagRepository, tagSchema } from './tag.ts';

export class TagService {
  constructor(
    private readonly tags: TagRepository,
    private readonly system: System,
  ) {}

  /**
   * Gives the tag the colour least used in the workspace; exact while creations do not overlap, for nothing is locked.
   * Refuses with `conflict` a name that another tag has, whatever the case.
   */
  async create(workspaceId: string, name: string): Promise<Tag> {
    const tag = this.newTag(workspaceId, name, leastUsedColor(await this.countColorUses(workspaceId)));
    await this.tags.add(tag);
    return tag;
  }

  /** What `createMany` would make of a batch of names, which it refuses and colours as `create` does one by one. */
  async checkMany(workspaceId: string, names: readonly string[]): Promise<readonly BatchResult<Tag>[]> {
    const taken = await takenNames(this.tags, workspaceId, names.map(fold));
    const uses = await this.countColorUses(workspaceId);
    return names.map((name) => {
      const tag = this.newTag(workspaceId, name, leastUsedColor(uses));
      if (taken.has(tag.foldedName)) return new CoreError('conflict', tagSchema.unique.foldedName as string);
      taken.add(tag.foldedName);
      uses[tag.color]++;
      return tag;
    });
  }

  /** Creates a batch. With `ids`, it can be retried (batch.ts). */
  async createMany(
    workspaceId: string,
    names: readonly string[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<Tag>[]> {
    return addAll(this.tags, workspaceId, await this.checkMany(workspaceId, names), ids);
  }

  /** Keeps the colour. Refuses with `conflict` a name that another tag has, whatever the case. */
  async rename(workspaceId: string, id: string, name: string): Promise<Tag> {
    const now = this.system.now();
    const rename = (tag: Tag): Tag => withChanges(tag, { name, foldedName: fold(name) }, now);
    return requireFound(await this.tags.update(workspaceId, id, rename), 'tag');
  }

  /** Every tag, in the order of their making. */
  iterate(workspaceId: string): AsyncIterable<Tag> {
    return iterateById((after, take) => this.tags.listById(workspaceId, after, take));
  }

  private newTag(workspaceId: string, name: string, color: Color): Tag {
    const now = timestamp(this.system.now());
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
