import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import type { Entity, GlobalRecordStore, RecordStore } from '../../core/shared/record-store.ts';
import { globalStoreNames, recordSchemas, type Storage } from '../../core/storage.ts';
import { Collection, type CollectionSchema, type RecordTable } from './collection.ts';
import { Transaction } from './transaction.ts';

type Identified = { readonly id: string };

/** Returns the records of a schema in a workspace. Global records are in `GLOBAL_WORKSPACE_ID`. */
type GetTable = <T extends Identified>(
  workspaceId: string,
  name: string,
  schema: CollectionSchema<T>,
) => RecordTable<T>;
type GetCollection = <T extends Identified>(
  workspaceId: string,
  name: string,
  schema: CollectionSchema<T>,
) => Collection<T>;

const GLOBAL_SCHEMA: CollectionSchema<Identified> = { unique: {}, indexes: [] };
const GLOBAL_WORKSPACE_ID = '';
const MAX_ATTEMPT_COUNT = 10;
const EMPTY_ARRAY: readonly unknown[] = Object.freeze([]);

/** Creates a storage in the memory of this process. Returned values are frozen, so that they cannot change stored records. */
export function createMemoryStorage(now: () => number): Storage {
  const byName = new Map(
    [...Object.keys(recordSchemas), ...globalStoreNames].map((name) => [name, new Map<string, unknown>()]),
  );
  const collection: GetCollection = <T extends Identified>(
    workspaceId: string,
    name: string,
    schema: CollectionSchema<T>,
  ) => {
    const byWorkspace = byName.get(name) as Map<string, unknown>;
    const known = byWorkspace.get(workspaceId) as Collection<T> | undefined;
    return known ?? new Collection(schema, now, (filled) => byWorkspace.set(workspaceId, filled));
  };
  let last: Promise<unknown> = Promise.resolve();
  return createStorage(collection, now, (work) => {
    const result = last.then(() => runInTransaction(collection, now, work));
    // A failed transaction does not stop the next one. Its caller gets the error from `result`.
    last = result.catch(doNothing);
    return result;
  });
}

async function runInTransaction<T>(
  collection: GetCollection,
  now: () => number,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPT_COUNT; attempt++) {
    const transaction = new Transaction();
    const tables: GetTable = (workspaceId, name, schema) =>
      transaction.getTable(`${workspaceId}/${name}`, () => collection(workspaceId, name, schema));
    const join: Storage['runInTransaction'] = (nestedWork) => nestedWork(storage);
    const storage = createStorage(tables, now, join);
    const result = await work(storage);
    if (transaction.commit()) return result;
  }
  throw new CoreError('conflict', 'Another request changed the same record at the same time. Retry the request.');
}

function createStorage(tables: GetTable, now: () => number, runInTransaction: Storage['runInTransaction']): Storage {
  const records = Object.entries(recordSchemas).map(([name, schema]) => [
    name,
    createRecordStore((workspaceId) =>
      tables<Entity>(workspaceId, name, schema as unknown as CollectionSchema<Entity>),
    ),
  ]);
  const entries = globalStoreNames.map((name) => [
    name,
    createGlobalRecordStore(() => tables(GLOBAL_WORKSPACE_ID, name, GLOBAL_SCHEMA)),
  ]);
  return { ...Object.fromEntries([...records, ...entries]), runInTransaction, now, checkReady: async () => undefined };
}

function createRecordStore<T extends Entity>(table: (workspaceId: string) => RecordTable<T>): RecordStore<T> {
  return {
    get: async (workspaceId, id) => table(workspaceId).get(id),
    getMany: async (workspaceId, ids) => {
      const records = table(workspaceId);
      return [...new Set(ids)].map((id) => records.get(id)).filter((record) => record !== undefined);
    },
    list: async (workspaceId, query) => table(workspaceId).list(query),
    listById: async (workspaceId, after, take) => table(workspaceId).listById(after, take),
    count: async (workspaceId, where) => table(workspaceId).count(where),
    add: async (record) => add(table(record.workspaceId), record),
    addMany: async (records) => {
      const messages = records.map((record) => catchConflict(() => add(table(record.workspaceId), record)));
      return new Map([...messages.entries()].flatMap(([i, message]) => (message === undefined ? [] : [[i, message]])));
    },
    update: async (workspaceId, id, change) => {
      const records = table(workspaceId);
      const current = records.get(id);
      if (!current) return undefined;
      const next = change(current);
      if (next !== current) records.set(id, freezeCopy(next));
      return next;
    },
    remove: async (workspaceId, id) => remove(table(workspaceId), id),
  };
}

function createGlobalRecordStore<E extends Identified>(table: () => RecordTable<E>): GlobalRecordStore<E> {
  return {
    get: async (id) => table().get(id),
    list: async (after, take) => table().listById(after, take),
    add: async (entry) => add(table(), entry),
    remove: async (id) => remove(table(), id),
  };
}

function add<T extends Identified>(table: RecordTable<T>, record: T): void {
  if (table.get(record.id)) throw new CoreError('conflict', 'A record with this id already exists.');
  table.set(record.id, freezeCopy(record));
}

/** Runs the work, and returns the message of its `CoreError`, or `undefined` if it succeeds. */
function catchConflict(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof CoreError) return error.message;
    throw error;
  }
}

function remove<T>(table: RecordTable<T>, id: string): boolean {
  const exists = table.get(id) !== undefined;
  if (exists) table.set(id, undefined);
  return exists;
}

/** Returns a frozen copy. Its arrays have no spare capacity, which V8 allocates in an array that has grown. */
function freezeCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value.length === 0 ? EMPTY_ARRAY : Object.freeze(value.map(freezeCopy))) as T;
  const copy = { ...value };
  for (const name of Object.keys(copy) as (keyof T)[]) copy[name] = freezeCopy(copy[name]);
  return Object.freeze(copy);
}
