import { COLORS, type Color } from '../../core/shared/color.ts';
import { fold } from '../../core/shared/text.ts';
import { TAG_NAME_TAKEN, type Tag } from '../../core/tag/tag.ts';
import type { TagRepository } from '../../core/tag/tag-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createMapping, createRepository, findByUnique, findKnownIds } from './repository.ts';
import { defineSchema } from './schema.ts';

interface TagColumns {
  readonly foldedName: string;
}

export type TagRecord = Tag & TagColumns;

export const tagSchema = defineSchema<Tag, TagColumns>({
  derived: { foldedName: ({ name }) => fold(name) },
  columns: { foldedName: 'text', color: 'text', createdAt: 'text' },
  unique: { foldedName: TAG_NAME_TAKEN },
  indexes: [['color', 'createdAt']],
});

export function createTagRepository(store: RecordStore<TagRecord>): TagRepository {
  const mapping = createMapping(tagSchema);
  return {
    ...createRepository(store, mapping),
    async findByNames(workspaceId, names) {
      return (await findByUnique(store, workspaceId, 'foldedName', names.map(fold))).map(mapping.toEntity);
    },
    findKnownIds: (workspaceId, ids) => findKnownIds(store, workspaceId, ids),
    async countByColor(workspaceId) {
      const count = async (color: Color) => [color, await store.count(workspaceId, [{ field: 'color', in: [color] }])];
      return Object.fromEntries(await Promise.all(COLORS.map(count)));
    },
  };
}
