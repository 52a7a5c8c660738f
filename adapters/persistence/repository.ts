import type { Entity } from '../../core/shared/entity.ts';
import type { Page, PageRequest } from '../../core/shared/page.ts';
import type { BatchRepository, RemovableRepository } from '../../core/shared/repository.ts';
import { iterateById } from './iterate-by-id.ts';
import type { Field, Query, RecordStore } from './record-store.ts';
import type { Schema } from './schema.ts';

/** Converts between an entity and its record. */
export interface RecordMapping<T extends Entity, R extends Entity> {
  toRecord(entity: T): R;
  toEntity(record: R): T;
}

/** Returns the mapping of a schema: it adds derived columns to an entity, and removes them from a record. */
export function createMapping<T extends Entity, D extends object>({
  derived,
  defaults,
}: Schema<T, D>): RecordMapping<T, T & D> {
  const columns = Object.entries(derived) as [string, (entity: T) => unknown][];
  return {
    toRecord(entity) {
      const record: Record<string, unknown> = {};
      for (const [column, derive] of columns) record[column] = derive(entity);
      return Object.assign(record, entity) as T & D;
    },
    toEntity(record) {
      const entity: Record<string, unknown> = { ...defaults };
      for (const [field, value] of Object.entries(record)) if (!Object.hasOwn(derived, field)) entity[field] = value;
      return entity as unknown as T;
    },
  };
}

/** Creates the methods that the repositories of all types of entity have (core/shared/repository.ts). */
export function createRepository<T extends Entity, R extends Entity>(
  store: RecordStore<R>,
  { toRecord, toEntity }: RecordMapping<T, R>,
): BatchRepository<T> & RemovableRepository<T> {
  return {
    async findById(workspaceId, id) {
      const record = await store.get(workspaceId, id);
      return record && toEntity(record as R);
    },
    findMany: async (workspaceId, ids) => ((await store.getMany(workspaceId, ids)) as readonly R[]).map(toEntity),
    async *iterate(workspaceId) {
      for await (const record of iterateById((after, take) => store.listById(workspaceId, after, take))) {
        yield toEntity(record);
      }
    },
    add: (entity) => store.add(toRecord(entity)),
    addMany: (entities) => store.addMany(entities.map(toRecord)),
    async update(workspaceId, id, change) {
      const record = await store.update(workspaceId, id, (current) => {
        const entity = toEntity(current);
        const next = change(entity);
        return next === entity ? current : toRecord(next);
      });
      return record && toEntity(record);
    },
    remove: (workspaceId, id) => store.remove(workspaceId, id),
  };
}

/** Returns which of the ids belong to records of the workspace. Reads each record once. */
export async function findKnownIds<R extends Entity>(
  store: RecordStore<R>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await store.getMany(workspaceId, [...new Set(ids)], [])).map(({ id }) => id));
}

/** Returns the records that have one of the values in a unique field. */
export async function findByUnique<R extends Entity & { readonly createdAt: string }>(
  store: RecordStore<R>,
  workspaceId: string,
  field: Field<R>,
  values: readonly string[],
): Promise<readonly R[]> {
  const distinct = [...new Set(values)];
  const where = [{ field, in: distinct }];
  return store.list(workspaceId, { where, by: 'createdAt', order: 'asc', skip: 0, take: distinct.length }) as Promise<
    readonly R[]
  >;
}

/** Reads one page of a list. It reads one record more than the page size, to know whether another page follows. */
export async function readPage<R extends Entity, F extends Field<R> = Field<R>>(
  store: RecordStore<R>,
  workspaceId: string,
  query: Omit<Query<R, F>, 'skip' | 'take'>,
  { page, pageSize, limit = Number.POSITIVE_INFINITY }: PageRequest,
): Promise<Page<Pick<R, F>>> {
  const skip = (page - 1) * pageSize;
  const itemCount = Math.min(pageSize, limit - skip);
  if (itemCount <= 0) return { items: [], hasNext: false };
  const found = await store.list(workspaceId, { ...query, skip, take: itemCount + 1 });
  return { items: found.slice(0, itemCount), hasNext: found.length > itemCount && skip + itemCount < limit };
}
