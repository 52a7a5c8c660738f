import { CoreError } from '../../core/shared/core-error.ts';
import type { Entity, GlobalRecordStore, RecordStore } from '../../core/shared/record-store.ts';
import { globalStoreNames, recordSchemas, type Storage } from '../../core/storage.ts';
import { Collection, type Shape, type Table } from './collection.ts';
import { Transaction } from './transaction.ts';

type Identified = { readonly id: string };

/** Finds what keeps a kind of record of a workspace, or a registry (which is of all workspaces). */
type Tables = <T extends Identified>(workspaceId: string, name: string, shape: Shape<T>) => Table<T>;
type Collections = <T extends Identified>(workspaceId: string, name: string, shape: Shape<T>) => Collection<T>;

const REGISTRY: Shape<Identified> = { unique: {}, indexes: [] };
const ALL_WORKSPACES = '';
const MOST_TRIES = 10;
const NONE: readonly unknown[] = Object.freeze([]);

/** Keeps everything in this process, as a database would: nothing that it returns can change what it keeps. */
export function memoryStorage(now: () => number): Storage {
  const byName = new Map(
    [...Object.keys(recordSchemas), ...globalStoreNames].map((name) => [name, new Map<string, unknown>()]),
  );
  const collection: Collections = <T extends Identified>(workspaceId: string, name: string, shape: Shape<T>) => {
    const byWorkspace = byName.get(name) as Map<string, unknown>;
    const known = byWorkspace.get(workspaceId) as Collection<T> | undefined;
    return known ?? new Collection(shape, now, (filled) => byWorkspace.set(workspaceId, filled));
  };
  let last: Promise<unknown> = Promise.resolve();
  return storageOn(collection, now, (work) => {
    const result = last.then(() => inTransaction(collection, now, work));
    last = result.catch(() => 'the next one may run');
    return result;
  });
}

async function inTransaction<T>(
  collection: Collections,
  now: () => number,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const transaction = new Transaction();
    const tables: Tables = (workspaceId, name, shape) =>
      transaction.table(`${workspaceId}/${name}`, () => collection(workspaceId, name, shape));
    const joined: Storage['runInTransaction'] = (inner) => inner(staged);
    const staged = storageOn(tables, now, joined);
    const result = await work(staged);
    if (transaction.commit()) return result;
  }
  throw new CoreError('conflict', 'The record was changed by others at the same time: try again.');
}

function storageOn(tables: Tables, now: () => number, runInTransaction: Storage['runInTransaction']): Storage {
  const records = Object.entries(recordSchemas).map(([name, kind]) => [
    name,
    recordsOn((workspaceId) => tables<Entity>(workspaceId, name, kind as unknown as Shape<Entity>)),
  ]);
  const entries = globalStoreNames.map((name) => [name, registryOn(() => tables(ALL_WORKSPACES, name, REGISTRY))]);
  return { ...Object.fromEntries([...records, ...entries]), runInTransaction, now, checkReady: async () => undefined };
}

function recordsOn<T extends Entity>(table: (workspaceId: string) => Table<T>): RecordStore<T> {
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
      const refusals = records.map((record) => refusalOf(() => add(table(record.workspaceId), record)));
      return new Map([...refusals.entries()].flatMap(([i, refusal]) => (refusal === undefined ? [] : [[i, refusal]])));
    },
    update: async (workspaceId, id, change) => {
      const records = table(workspaceId);
      const current = records.get(id);
      if (!current) return undefined;
      const next = change(current);
      if (next !== current) records.set(id, frozen(next));
      return next;
    },
    remove: async (workspaceId, id) => remove(table(workspaceId), id),
  };
}

function registryOn<E extends Identified>(table: () => Table<E>): GlobalRecordStore<E> {
  return {
    get: async (id) => table().get(id),
    list: async (after, take) => table().listById(after, take),
    add: async (entry) => add(table(), entry),
    remove: async (id) => remove(table(), id),
  };
}

function add<T extends Identified>(table: Table<T>, record: T): void {
  if (table.get(record.id)) throw new CoreError('conflict', 'There is a record with this id.');
  table.set(record.id, frozen(record));
}

/** The sentence with which something is refused; `undefined` where it is done. */
function refusalOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof CoreError) return error.message;
    throw error;
  }
}

function remove<T>(table: Table<T>, id: string): boolean {
  const is = table.get(id) !== undefined;
  if (is) table.set(id, undefined);
  return is;
}

/** A frozen copy, so that the value stays its owner's. Its arrays have no room left, as V8 leaves it in one that has grown. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value.length === 0 ? NONE : Object.freeze(value.map(frozen))) as T;
  const copy = { ...value };
  for (const name of Object.keys(copy) as (keyof T)[]) copy[name] = frozen(copy[name]);
  return Object.freeze(copy);
}
