import pLimit from 'p-limit';
import { GroupSums } from '../persistence/group-sums.ts';
import type { Condition, Query, RecordStore, AnyRecord as Row, SumQuery } from '../persistence/record-store.ts';
import { createStores, type StorageEngine } from '../persistence/storage-engine.ts';
import { storeSchemas } from '../persistence/store-schemas.ts';
import { MemoryTable } from './table.ts';

/** The tables of all stores by their names. */
type Tables = ReadonlyMap<string, MemoryTable>;

/** Runs work that changes records. */
type Write = <T>(work: () => T | Promise<T>) => Promise<T>;

/**
 * Creates a storage engine in the memory of this process. It is the plain model that the contract tests compare the
 * other engines with. A list goes through all records of its schema, and a transaction copies all tables. So the engine
 * serves demos and tests with up to about 10,000 campaigns (docs/adr/0003-repositories.md).
 */
export function createMemoryEngine(now: () => number): StorageEngine {
  const tables = new Map([...storeSchemas].map(([name, schema]) => [name, new MemoryTable(schema, now)]));
  const limit = pLimit(1);
  /** Runs one transaction, or one change outside of a transaction, at a time. */
  const write: Write = (work) => limit(work);
  return createEngine(tables, now, write, (work) => write(() => runInTransaction(tables, now, work)));
}

/** Runs the work on copies of all tables, and then replaces the rows of the tables by those of the copies. */
async function runInTransaction<T>(
  tables: Tables,
  now: () => number,
  work: (engine: StorageEngine) => Promise<T>,
): Promise<T> {
  const copies = new Map([...tables].map(([name, table]) => [name, table.copy()]));
  const writeNow: Write = async (change) => change();
  const engine = createEngine(copies, now, writeNow, (nestedWork) => nestedWork(engine));
  const result = await work(engine);
  for (const [name, table] of tables) table.rows = (copies.get(name) as MemoryTable).rows;
  return result;
}

function createEngine(
  tables: Tables,
  now: () => number,
  write: Write,
  runInTransaction: StorageEngine['runInTransaction'],
): StorageEngine {
  const stores = createStores(tables, (table) => createRecordStore(table, write));
  return { ...stores, runInTransaction, now, checkReady: async () => undefined };
}

/**
 * Creates the store of a table. The store keeps and returns copies, so that changing a value does not change a record.
 */
function createRecordStore(table: MemoryTable, write: Write): RecordStore<Row> {
  const add = (record: Row) => write(() => table.add(structuredClone(record)));
  const updateMany = (workspaceId: string, ids: readonly string[], change: (current: Row) => Row) => {
    const current = [...new Set(ids)].flatMap((id) => structuredClone(table.find(workspaceId, id)) ?? []);
    const next = current.map(change);
    for (const [i, row] of next.entries()) if (row !== current[i]) table.set(row.id, structuredClone(row));
    return next;
  };
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
    sum: async (workspaceId: string, query: SumQuery<Row>) => {
      const sums = new GroupSums(query);
      for (const row of table.filter(workspaceId, query.where)) sums.add(sums.fields.map((field) => row[field]));
      return sums.list();
    },
    add,
    addMany: (records) =>
      write(() => {
        for (const record of records) table.add(structuredClone(record));
      }),
    update: (workspaceId, id, change) => write(() => updateMany(workspaceId, [id], change)[0]),
    updateMany: (workspaceId, ids, change) => write(() => updateMany(workspaceId, ids, change)),
    increment: (workspaceId, id, field) =>
      write(() => {
        const row = table.find(workspaceId, id) ?? { id, workspaceId };
        const sum = Number(row[field] ?? 0) + 1;
        table.set(id, { ...row, [field]: sum });
        return sum;
      }),
    remove: (workspaceId, id) =>
      write(() => {
        const exists = table.find(workspaceId, id) !== undefined;
        if (exists) table.set(id, undefined);
        return exists;
      }),
  };
}

/** Returns a copy of a row: all fields, or the given fields and the ID. */
function select(row: Row, fields: readonly string[] | undefined): Row {
  if (!fields) return structuredClone(row);
  return structuredClone(
    Object.fromEntries(Object.entries(row).filter(([field]) => field === 'id' || fields.includes(field))) as Row,
  );
}
