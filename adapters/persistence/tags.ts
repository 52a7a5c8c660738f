import { COLORS, type Color } from '../../core/shared/color.ts';
import { fold } from '../../core/shared/text.ts';
import { TAG_NAME_TAKEN, type Tag } from '../../core/tag/tag.ts';
import type { TagRepository } from '../../core/tag/tag-repository.ts';
import { type NameColumns, toNameQuery } from './name-query.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository, findByUnique, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';

export type TagRecord = Tag & NameColumns;

export const tagSchema = defineSchema<Tag, NameColumns>({
  derived: { foldedName: ({ name }) => fold(name) },
  columns: { foldedName: 'text', color: 'text', createdAt: 'text' },
  unique: { foldedName: TAG_NAME_TAKEN },
  indexes: [['color', 'createdAt'], ['createdAt'], ['foldedName']],
});

export function createTagRepository(store: RecordStore<TagRecord>): TagRepository {
  return {
    findByNames: (workspaceId, names) => findByUnique(store, tagSchema, workspaceId, 'foldedName', names.map(fold)),
    findPage: (workspaceId, filter, request) =>
      readPage(store, workspaceId, toNameQuery<TagRecord>(filter), request, tagSchema.toEntity),
    async countByColor(workspaceId) {
      const count = async (color: Color) => [color, await store.count(workspaceId, [{ field: 'color', in: [color] }])];
      return Object.fromEntries(await Promise.all(COLORS.map(count)));
    },
    ...createRepository(store, tagSchema),
  };
}
