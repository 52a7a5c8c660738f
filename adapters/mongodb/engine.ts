import { setTimeout as delay } from 'node:timers/promises';
import type { ClientSession, Collection, MongoClient } from 'mongodb';
import { MongoError, MongoServerError } from 'mongodb';
import { CoreError, StorageUnavailable } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { createStores, type StorageEngine } from '../persistence/storage-engine.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';
import { storeSchemas } from '../persistence/store-schemas.ts';
import { withBatching } from './batching.ts';
import { MongoConnection } from './connection.ts';
import type { StoredDocument } from './documents.ts';
import { isTransient } from './errors.ts';
import { Locks } from './locks.ts';
import { type CommandExecutor, createMongodbRecordStore } from './record-store.ts';
import { isWriteConflict, type LockKeys, retryOnConflict, WRITE_CONFLICT } from './write-conflicts.ts';

export { UnsupportedDatabase } from './errors.ts';

const MAX_COMMIT_BACKOFF_MS = 100;

/**
 * Creates a storage engine on the database of a connection string, and starts to connect to it. `log` gets lines about
 * outages and their end.
 */
export function createMongodbEngine(
  uri: string,
  log: (line: string) => void,
): { readonly engine: StorageEngine; readonly connection: MongoConnection } {
  const connection = new MongoConnection(uri, log);
  const getCollection = cacheCollections();
  const runOnCollection: CommandExecutor['runOnCollection'] = (name, work) =>
    connection.run((client) => work(getCollection(client, name), undefined));
  const [updateLocks, transactionLocks] = [new Locks(), new Locks()];
  const now = () => connection.clock.now();
  const executor: CommandExecutor = {
    runOnCollection,
    runChange: runOnCollection,
    runUpdate: (keys, attempt) => retryOnConflict(transactionLocks, new Set(keys), attempt, updateLocks.request(keys)),
  };
  const engine: StorageEngine = {
    ...createStores(storeSchemas, (schema) => {
      const store = createMongodbRecordStore(schema, executor);
      return schema.isGlobal ? store : withBatching(store);
    }),
    runInTransaction: (work) =>
      retryOnConflict(transactionLocks, new Set(), (lockKeys) =>
        connection.run((client) => attemptTransaction(client, work, now, lockKeys)),
      ),
    now,
    checkReady: () => connection.checkReady(),
  };
  return { engine, connection };
}

/**
 * Returns a function that returns cached collections. Without the cache, the driver would resolve their options at each
 * use.
 */
function cacheCollections(): (client: MongoClient, name: string) => Collection<StoredDocument> {
  const cache = new Map<string, Collection<StoredDocument>>();
  return (client, name) => {
    const collection = cache.get(name) ?? client.db().collection<StoredDocument>(name);
    cache.set(name, collection);
    return collection;
  };
}

/** Ends a transaction whose next update would wait for another transaction of this process. */
class LockTaken extends Error {}

/** Runs `work` in a transaction. Resolves to `WRITE_CONFLICT` if another change won. */
async function attemptTransaction<T>(
  client: MongoClient,
  work: (transaction: StorageEngine) => Promise<T>,
  now: () => number,
  lockKeys: LockKeys,
): Promise<T | typeof WRITE_CONFLICT> {
  const session = client.startSession();
  let isChanged = false;
  let rejection: CoreError | undefined;
  try {
    session.startTransaction({ readConcern: { level: 'snapshot' } });
    const onChange = () => (isChanged = true);
    const transactionEngine = createTransactionEngine(client, session, now, lockKeys, onChange);
    // If the work rejects with a `CoreError` before it changes anything, the transaction is committed, too. The commit
    // waits until a majority of the servers has the data that the transaction read. So the rejection (for example, a
    // name is taken) never results from a change that a failover undoes.
    const result = await work(transactionEngine).catch((error) => {
      if (isChanged || !(error instanceof CoreError)) throw error;
      rejection = error;
    });
    await commit(session);
    if (rejection) throw rejection;
    return result as T;
  } catch (error) {
    // If aborting fails, the database itself ends the transaction after its time limit.
    if (session.inTransaction()) await session.abortTransaction().catch(doNothing);
    if (error instanceof LockTaken || (error instanceof MongoError && isWriteConflict(error))) return WRITE_CONFLICT;
    throw error;
  } finally {
    await session.endSession();
  }
}

/** Creates the engine of a transaction. It sends one command at a time, because a session does not support more. */
function createTransactionEngine(
  client: MongoClient,
  session: ClientSession,
  now: () => number,
  lockKeys: LockKeys,
  onChange: () => void,
): StorageEngine {
  let lastCommand: Promise<unknown> | undefined;
  const runOnCollection: CommandExecutor['runOnCollection'] = (name, work) => {
    const result = Promise.resolve(lastCommand).then(() => work(client.db().collection(name), session));
    // The next command runs even if this command fails.
    lastCommand = result.catch(doNothing);
    return result;
  };
  const executor: CommandExecutor = {
    runOnCollection,
    runChange: async (...change) => {
      const result = await runOnCollection(...change);
      onChange();
      return result;
    },
    runUpdate: async (keys, attempt) => {
      // Only before its first command, a transaction can wait: later, it has read records that others change meanwhile.
      const isReady = lockKeys(keys, lastCommand === undefined);
      // Commands that the work sends meanwhile wait, too, and need no lock of their own.
      lastCommand ??= isReady.catch(doNothing);
      if (!(await isReady)) throw new LockTaken();
      return attempt() as never;
    },
  };
  const transactionEngine: StorageEngine = {
    ...createStores(storeSchemas, (schema) => createMongodbRecordStore(schema, executor)),
    runInTransaction: (work) => work(transactionEngine),
    now,
    checkReady: async () => undefined,
  };
  return transactionEngine;
}

const UNKNOWN_COMMIT =
  'It is unknown whether the transaction was committed. Check the records before you repeat the change.';

/**
 * Commits, and repeats the commit while its result is unknown. This is safe, because the database recognizes a repeated
 * commit. The work of the transaction is not run again, because its changes could be applied twice.
 */
async function commit(session: ClientSession): Promise<void> {
  const deadline = performance.now() + STORAGE_TIMEOUT_MS;
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      const isUnknown = isTransient(error) || (error as MongoError).hasErrorLabel('UnknownTransactionCommitResult');
      if (error instanceof MongoServerError && !isUnknown) throw error;
      if (performance.now() >= deadline) throw new StorageUnavailable(UNKNOWN_COMMIT, { cause: error });
      await delay(Math.random() * MAX_COMMIT_BACKOFF_MS);
    }
  }
}
