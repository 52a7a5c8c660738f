import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import {
  type Condition,
  type GlobalRecordStore,
  type Query,
  type RecordStore,
  TOO_MANY_CONFLICTS,
} from '../persistence/record-store.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from '../persistence/storage-engine.ts';
import { type Row, Table, type TableSchema } from './table.ts';

/** The tables of all stores by their names. */
type Tables = ReadonlyMap<string, Table>;

const GLOBAL_SCHEMA: TableSchema = { unique: {} };
/** The workspace id of the rows of global stores. */
const GLOBAL = '';
const MAX_ATTEMPT_COUNT = 10;

/**
 * Creates a storage engine in the memory of this process. It is the plain model that the contract tests compare the other
 * engines with. A list filters and sorts all records of its schema, and a transaction copies all tables. So it serves demos and tests
 * with up to about 10,000 campaigns (docs/adr/0004-memory-storage.md).
 */
export function createMemoryEngine(now: () => number): StorageEngine {
  const schemas = new Map<string, TableSchema>(Object.entries(recordSchemas));
  for (const name of globalStoreNames) schemas.set(name, GLOBAL_SCHEMA);
  const tables = new Map([...schemas].map(([name, schema]) => [name, new Table(schema, now)]));
  let last: Promise<unknown> = Promise.resolve();
  return createEngine(tables, now, (work) => {
    // One transaction at a time: waiting costs less than running the work again after a write conflict.
    const result = last.then(() => runInTransaction(tables, now, work));
    // The next transaction runs even if this one fails.
    last = result.catch(doNothing);
    return result;
  });
}

/** Runs the work on copies of all tables. Runs it again if others have changed the same records in the meantime. */
async function runInTransaction<T>(
  tables: Tables,
  now: () => number,
  work: (engine: StorageEngine) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPT_COUNT; attempt++) {
    const copies = new Map([...tables].map(([name, table]) => [name, table.copy()]));
    const engine = createEngine(copies, now, (nestedWork) => nestedWork(engine));
    const result = await work(engine);
    if (![...copies.values()].every((copy) => copy.canCommit())) continue;
    for (const copy of copies.values()) copy.commit();
    return result;
  }
  throw new CoreError('conflict', TOO_MANY_CONFLICTS);
}

function createEngine(
  tables: Tables,
  now: () => number,
  runInTransaction: StorageEngine['runInTransaction'],
): StorageEngine {
  const stores = [...tables].map(([name, table]) => [
    name,
    name in recordSchemas ? createRecordStore(table) : createGlobalRecordStore(table),
  ]);
  return { ...Object.fromEntries(stores), runInTransaction, now, checkReady: async () => undefined };
}

/** Creates the store of a table. It copies what it takes and returns: changing such a value does not change a record. */
function createRecordStore(table: Table): RecordStore<Row> {
  return {
    get: async (workspaceId: string, id: string, fields?: readonly string[]) => {
      const row = table.find(workspaceId, id);
      return row && select(row, fields);
    },
    getMany: async (workspaceId: string, ids: readonly string[], fields?: readonly string[]) =>
      [...new Set(ids)].flatMap((id) => table.find(workspaceId, id) ?? []).map((row) => select(row, fields)),
    list: async (workspaceId: string, query: Query<Row>) =>
      table.list(workspaceId, query).map((row) => select(row, query.fields)),
    listById: async (workspaceId, after, take) => structuredClone(table.listById(workspaceId, after, take)),
    count: async (workspaceId: string, where: readonly Condition<Row>[]) => table.filter(workspaceId, where).length,
    add: async (record) => table.add(structuredClone(record)),
    addMany: async (records) => {
      const messages = new Map<number, string>();
      for (const [i, record] of records.entries()) {
        try {
          table.add(structuredClone(record));
        } catch (error) {
          if (!(error instanceof CoreError)) throw error;
          messages.set(i, error.message);
        }
      }
      return messages;
    },
    update: async (workspaceId, id, change) => {
      const current = structuredClone(table.find(workspaceId, id));
      const next = current && change(current);
      if (next !== current) table.set(id, structuredClone(next));
      return next;
    },
    remove: async (workspaceId, id) => {
      const exists = table.find(workspaceId, id) !== undefined;
      if (exists) table.set(id, undefined);
      return exists;
    },
  };
}

/** Returns a copy of a row: all fields, or the given fields and the id. */
function select(row: Row, fields: readonly string[] | undefined): Row {
  if (!fields) return structuredClone(row);
  return structuredClone(
    Object.fromEntries(Object.entries(row).filter(([field]) => field === 'id' || fields.includes(field))) as Row,
  );
}

/** Creates the store of a table without workspaces. Each row keeps the record of the caller as its `entry`. */
function createGlobalRecordStore(table: Table): GlobalRecordStore<{ readonly id: string }> {
  const store = createRecordStore(table);
  return {
    get: async (id) => (await store.get(GLOBAL, id))?.entry,
    list: async (after, take) => (await store.listById(GLOBAL, after, take)).map(({ entry }) => entry),
    add: (entry) => store.add({ id: entry.id, workspaceId: GLOBAL, entry }),
    remove: (id) => store.remove(GLOBAL, id),
  };
}
