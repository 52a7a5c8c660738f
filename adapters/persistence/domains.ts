import { domainToUnicode } from 'node:url';
import { DOMAIN_TAKEN, type Domain } from '../../core/domain/domain.ts';
import type { DomainRepository } from '../../core/domain/domain-repository.ts';
import { fold } from '../../core/shared/text.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { createRepository, findByUnique, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';
import { buildSearchText } from './search-text.ts';

interface DomainColumns {
  readonly searchText: string;
}

export type DomainRecord = Domain & DomainColumns;

export const domainSchema = defineSchema<Domain, DomainColumns>({
  derived: { searchText: ({ slug }) => buildSearchText(slug, domainToUnicode(slug)) },
  columns: { slug: 'text', archived: 'boolean', createdAt: 'text', liveSince: 'text', searchText: 'text' },
  unique: { slug: DOMAIN_TAKEN },
  indexes: [
    ['archived', 'createdAt'],
    ['archived', 'liveSince'],
  ],
});

export function createDomainRepository(store: RecordStore<DomainRecord>): DomainRepository {
  const live: Condition<DomainRecord> = { field: 'archived', in: [false] };
  return {
    findBySlugs: (workspaceId, slugs) => findByUnique(store, domainSchema, workspaceId, 'slug', slugs),
    async findPrimaryId(workspaceId) {
      const query = { where: [live], by: 'liveSince', order: 'asc', skip: 0, take: 1 } as const;
      return (await store.list(workspaceId, query))[0]?.id;
    },
    findPage(workspaceId, { includeArchived, search }, request) {
      const where: Condition<DomainRecord>[] = includeArchived ? [] : [live];
      if (search) where.push({ field: 'searchText', contains: fold(search) });
      const query = { where, by: 'createdAt', order: 'desc' } as const;
      return readPage(store, workspaceId, query, request, domainSchema.toEntity);
    },
    ...createRepository(store, domainSchema),
  };
}
