import type { ContentPillar, ContentPillarSort } from '../../core/content-pillar/content-pillar.ts';
import type { ContentPillarRepository } from '../../core/content-pillar/content-pillar-repository.ts';
import { fold } from '../../core/shared/text.ts';
import type { Condition, Field, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';
import { buildSearchText } from './search-text.ts';

interface ContentPillarColumns {
  readonly foldedTitle: string;
  readonly searchText: string;
}

export type ContentPillarRecord = ContentPillar & ContentPillarColumns;

export const contentPillarSchema = defineSchema<ContentPillar, ContentPillarColumns>({
  derived: {
    foldedTitle: ({ title }) => fold(title),
    searchText: ({ title, description }) => buildSearchText(title, description),
  },
  columns: { createdAt: 'text', foldedTitle: 'text', searchText: 'text' },
  indexes: [['createdAt'], ['foldedTitle']],
});

const sortColumns: Record<ContentPillarSort, Field<ContentPillarRecord>> = {
  title: 'foldedTitle',
  createdAt: 'createdAt',
};

export function createContentPillarRepository(store: RecordStore<ContentPillarRecord>): ContentPillarRepository {
  return {
    findPage(workspaceId, { ids, search, sortBy, sortOrder }, request) {
      const where: Condition<ContentPillarRecord>[] = [];
      if (ids) where.push({ field: 'id', in: ids });
      if (search) where.push({ field: 'searchText', contains: fold(search) });
      const query = { where, by: sortColumns[sortBy], order: sortOrder };
      return readPage(store, workspaceId, query, request, contentPillarSchema.toEntity);
    },
    ...createRepository(store, contentPillarSchema),
  };
}
