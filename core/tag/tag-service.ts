import { addAll, type Outcome, takenNames } from '../shared/batch.ts';
import { changed } from '../shared/changes.ts';
import { COLORS, type Color } from '../shared/color.ts';
import { timestamp } from '../shared/date.ts';
import { DomainError, found } from '../shared/error.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { walk } from '../shared/walk.ts';
import { leastUsedColor, type Tag, type TagRepository, tagKind } from './tag.ts';

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
    const tag = this.made(workspaceId, name, leastUsedColor(await this.colorUses(workspaceId)));
    await this.tags.add(tag);
    return tag;
  }

  /** What `createMany` would make of a batch of names, which it refuses and colours as `create` does one by one. */
  async checkMany(workspaceId: string, names: readonly string[]): Promise<readonly Outcome<Tag>[]> {
    const taken = await takenNames(this.tags, workspaceId, names.map(fold));
    const uses = await this.colorUses(workspaceId);
    return names.map((name) => {
      const tag = this.made(workspaceId, name, leastUsedColor(uses));
      if (taken.has(tag.foldedName)) return new DomainError('conflict', tagKind.unique.foldedName as string);
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
  ): Promise<readonly Outcome<Tag>[]> {
    return addAll(this.tags, workspaceId, await this.checkMany(workspaceId, names), ids);
  }

  /** Keeps the colour. Refuses with `conflict` a name that another tag has, whatever the case. */
  async rename(workspaceId: string, id: string, name: string): Promise<Tag> {
    const now = this.system.now();
    const rename = (tag: Tag): Tag => changed(tag, { name, foldedName: fold(name) }, now);
    return found(await this.tags.update(workspaceId, id, rename), 'tag');
  }

  /** Every tag, in the order of their making. */
  all(workspaceId: string): AsyncIterable<Tag> {
    return walk((after, take) => this.tags.listById(workspaceId, after, take));
  }

  private made(workspaceId: string, name: string, color: Color): Tag {
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

  private async colorUses(workspaceId: string): Promise<Record<Color, number>> {
    const count = async (color: Color) => [color, await this.tags.count(workspaceId, [{ field: 'color', is: color }])];
    return Object.fromEntries(await Promise.all(COLORS.map(count)));
  }
}
