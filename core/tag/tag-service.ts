import { COLORS, type Color } from '../shared/color.ts';
import { timestamp } from '../shared/date.ts';
import { found } from '../shared/error.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import { walk } from '../shared/walk.ts';
import { leastUsedColor, type Tag, type TagRepository } from './tag.ts';

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
    const color = leastUsedColor(await this.colorUses(workspaceId));
    const now = timestamp(this.system.now());
    const tag: Tag = {
      id: this.system.newId(),
      workspaceId,
      name,
      foldedName: fold(name),
      color,
      createdAt: now,
      updatedAt: now,
    };
    await this.tags.add(tag);
    return tag;
  }

  /** Keeps the colour. Refuses with `conflict` a name that another tag has, whatever the case. */
  async rename(workspaceId: string, id: string, name: string): Promise<Tag> {
    const updatedAt = timestamp(this.system.now());
    const rename = (tag: Tag): Tag => (tag.name === name ? tag : { ...tag, name, foldedName: fold(name), updatedAt });
    return found(await this.tags.update(workspaceId, id, rename), 'tag');
  }

  /** Every tag, in the order of their making. */
  all(workspaceId: string): AsyncIterable<Tag> {
    return walk((after, take) => this.tags.listById(workspaceId, after, take));
  }

  private async colorUses(workspaceId: string): Promise<Record<Color, number>> {
    const count = async (color: Color) => [color, await this.tags.count(workspaceId, [{ field: 'color', is: color }])];
    return Object.fromEntries(await Promise.all(COLORS.map(count)));
  }
}
