import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { withTimeout } from '../node/with-timeout.ts';
import { createStores, type StorageEngine } from '../persistence/storage-engine.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';
import { SqliteConnection } from './connection.ts';
import type { Database } from './database.ts';
import { tables } from './layout.ts';
import { createSqliteRecordStore, type Executor } from './record-store.ts';

export { UnusableFile } from './file.ts';

/**
 * Creates a storage engine on a file (docs/adr/0021-sqlite.md). The connection must be opened before the engine is
 * used.
 */
export function createSqliteEngine(
  file: string,
  now: () => number = Date.now,
): { readonly engine: StorageEngine; readonly connection: SqliteConnection } {
  const connection = new SqliteConnection(file);
  const engine = createEngine(connection, now, {
    runInTransaction: (work) => connection.write((writer) => runInTransaction(writer, now, work)),
    checkReady: () => connection.checkReady(),
  });
  return { engine, connection };
}

function createEngine(
  executor: Executor,
  now: () => number,
  methods: Pick<StorageEngine, 'runInTransaction' | 'checkReady'>,
): StorageEngine {
  return Object.assign(
    createStores(tables, (table) => createSqliteRecordStore(table, executor, now)),
    methods,
    { now },
  );
}

/**
 * Runs the work of a transaction on the connection that writes. After the work has ended, its engine cannot be used.
 */
async function runInTransaction<T>(
  writer: Database,
  now: () => number,
  work: (engine: StorageEngine) => Promise<T>,
): Promise<T> {
  let isOpen = true;
  const run = async <R>(use: (database: Database) => R): Promise<R> => {
    if (!isOpen || !writer.isInTransaction) throw new Error('The transaction has ended.');
    return use(writer);
  };
  const runAllSteps: Executor['scan'] = (_, start) =>
    run((database) => {
      const steps = start(database);
      for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
      }
    });
  const engine = createEngine({ read: run, write: run, scan: runAllSteps }, now, {
    runInTransaction: (nestedWork) => nestedWork(engine),
    checkReady: async () => undefined,
  });
  const createTimeout = () =>
    new StorageUnavailable(`The work of a transaction took longer than ${STORAGE_TIMEOUT_MS} ms.`);
  return withTimeout(work(engine), STORAGE_TIMEOUT_MS, createTimeout).finally(() => (isOpen = false));
}
