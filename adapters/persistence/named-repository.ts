import type { Entity } from '../../core/shared/entity.ts';
import type { NameFilter } from '../../core/shared/name-filter.ts';
import type { PageRequest } from '../../core/shared/page.ts';
import { fold } from '../../core/shared/text.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { createRepository, findByUnique, readPage } from './repository.ts';
import type { RecordMapping } from './schema.ts';

/** The derived column of groups and of tags. Their names are unique, and are ordered and searched by their folded form. */
export interface NameColumns {
  readonly foldedName: string;
}

const nameSortColumns = { name: 'foldedName', createdAt: 'createdAt' } as const;

/** Creates the repository methods that groups and tags have. */
export function createNamedRepository<
  T extends Entity,
  R extends Entity & NameColumns & { readonly createdAt: string },
>(store: RecordStore<R>, mapping: RecordMapping<T, R>) {
  return {
    findByNames: (workspaceId: string, names: readonly string[]) =>
      findByUnique(store, mapping, workspaceId, 'foldedName', names.map(fold)),
    page(workspaceId: string, { search, sortBy, sortOrder }: NameFilter, page: PageRequest) {
      const where: Condition<R>[] = search ? [{ field: 'foldedName', contains: fold(search) }] : [];
      const query = { where, by: nameSortColumns[sortBy], order: sortOrder };
      return readPage(store, workspaceId, query, page, (record) => mapping.toEntity(record as R));
    },
    ...createRepository(store, mapping),
  };
}
