import type { ClientSession, Collection, MongoClient } from 'mongodb';
import { MongoError, MongoServerError } from 'mongodb';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Entity, RecordSchema } from '../../core/shared/record-store.ts';
import { globalStoreNames, recordSchemas, type Storage } from '../../core/storage.ts';
import { withBatching } from './batching.ts';
import { Bulkhead } from './bulkhead.ts';
import { isShardUnavailable, isTransient, MongoConnection } from './connection.ts';
import type { StoredDocument } from './documents.ts';
import { prepare, probe } from './indexes.ts';
import {
  type BatchedRecordStore,
  createGlobalRecordStore,
  createRecordStore,
  type Executor,
  type OnCollection,
  type RetryOnConflict,
  type SerializeByKey,
  WRITE_CONFLICT,
} from './record-store.ts';

export { UnsupportedDatabase as UnusableDatabase } from './connection.ts';

const TRANSACTION_RETRY_TIMEOUT_MS = 10_000;
const MAX_BACKOFF_MS = 100;

/**
 * Keeps everything in the database that a connection string names, as soon as that can be reached. `tell` gets a line
 * when it cannot, and when it can again. Without batches (batching.ts) each thing that is asked is a command of its own.
 */
export function mongodbStorage(
  uri: string,
  tell: (line: string) => void,
  isBatched = true,
): { readonly storage: Storage; readonly connection: MongoConnection } {
  const connection = new MongoConnection(uri, { prepare, probe }, tell);
  const collectionOf = collections();
  const bulkhead = new Bulkhead();
  const limited: Limited = (scope, work) => (connection.isSharded ? bulkhead.run(scope, work) : work());
  const on: OnCollection = (name, scope, work) =>
    connection.run((client) => limited(scope, () => work(collectionOf(client, name), undefined)));
  const turns = serializeByKey();
  const now = () => connection.clock.now();
  const isSharded = () => connection.isSharded;
  const unbatched = storageOn({ on, serializeByKey: serializeByKey(), retryOnConflict: retryOnConflict, isSharded });
  const storage = {
    ...(isBatched ? allBatched(unbatched, isSharded) : unbatched),
    runInTransaction: (work) => {
      let changed: string | undefined;
      const note = (thing: string) => (changed = thing);
      const attempt = () => connection.run((client) => inTransaction(client, work, now, note, limited));
      return retryOnConflict(() => (changed === undefined ? attempt() : turns(changed, attempt)));
    },
    now,
    checkReady: () => connection.ready(),
  } as Storage;
  return { storage, connection };
}

/** Runs work on the data of a scope. The work may wait while the shard of the scope is unavailable. */
type Limited = <T>(scope: string, work: () => Promise<T>) => Promise<T>;

/** Finds collections of the one client that a connection opens; the driver would resolve their options each time. */
function collections(): (client: MongoClient, name: string) => Collection<StoredDocument> {
  const known = new Map<string, Collection<StoredDocument>>();
  return (client, name) => {
    const collection = known.get(name) ?? client.db().collection<StoredDocument>(name);
    known.set(name, collection);
    return collection;
  };
}

function storageOn(ways: Executor): Omit<Storage, 'atomically' | 'now' | 'ready'> {
  const records = Object.entries(recordSchemas).map(([name, kind]) => [
    name,
    createRecordStore(name, kind as unknown as RecordSchema<Entity>, ways),
  ]);
  const entries = globalStoreNames.map((name) => [name, createGlobalRecordStore(name, ways)]);
  return Object.fromEntries([...records, ...entries]);
}

function allBatched(storage: Omit<Storage, 'atomically' | 'now' | 'ready'>, isSharded: () => boolean): typeof storage {
  const names = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];
  const records = names.map((name) => [
    name,
    withBatching(storage[name] as unknown as BatchedRecordStore<Entity>, isSharded),
  ]);
  return { ...storage, ...Object.fromEntries(records) };
}

/** Does `work` in a transaction, and notes what it changes; `LOST` where another change came between. */
async function inTransaction<T>(
  client: MongoClient,
  work: (storage: Storage) => Promise<T>,
  now: () => number,
  note: (thing: string) => void,
  limited: Limited,
): Promise<T | typeof WRITE_CONFLICT> {
  const session = client.startSession();
  let isChanged = false;
  let rejection: CoreError | undefined;
  try {
    session.startTransaction({ readConcern: { level: 'snapshot' } });
    const staged = stagedOn(client, session, now, note, limited, () => (isChanged = true));
    const result = await work(staged).catch((error) => {
      if (isChanged || !(error instanceof CoreError)) throw error;
      rejection = error;
    });
    // A commit also waits until the majority has what was read. So a rejection (such as that a name is taken) never
    // results from a change that a failover undoes.
    await commit(session);
    if (rejection) throw rejection;
    return result as T;
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction().catch(() => 'the database ends it by itself');
    if (error instanceof MongoError && isWriteConflict(error)) return WRITE_CONFLICT;
    throw error;
  } finally {
    await session.endSession();
  }
}

/** The storage of a transaction, which does one thing after another: a session cannot do two at once. */
function stagedOn(
  client: MongoClient,
  session: ClientSession,
  now: () => number,
  note: (thing: string) => void,
  limited: Limited,
  onChange: () => void,
): Storage {
  let last: Promise<unknown> = Promise.resolve();
  const records = storageOn({
    on: (name, scope, work) => {
      const mine = last.then(() => limited(scope, () => work(client.db().collection(name), session)));
      last = mine.catch(() => 'the next one may try');
      return mine;
    },
    serializeByKey: (thing, work) => {
      note(thing);
      return work();
    },
    retryOnConflict: (attempt) => attempt() as never,
    // An error ends the transaction, whatever it is.
    isSharded: () => true,
  });
  const observed = Object.entries(records).map(([name, one]) => [name, withObserver(one, onChange)]);
  const staged: Storage = {
    ...(Object.fromEntries(observed) as typeof records),
    runInTransaction: (work) => work(staged),
    now,
    checkReady: async () => undefined,
  } as Storage;
  return staged;
}

const CHANGES: ReadonlySet<string> = new Set(['add', 'addMany', 'update', 'remove']);

/** Returns the same records or registry with methods that call `onChange` after each change. */
function withObserver(records: object, onChange: () => void): object {
  const methods = Object.entries(records).map(([name, method]) => {
    const observed = async (...args: unknown[]) => {
      const result = await method(...args);
      onChange();
      return result;
    };
    return [name, CHANGES.has(name) ? observed : method];
  });
  return Object.fromEntries(methods);
}

/**
 * A commit may be repeated, for the database knows whether it has done it; the work may not, where that is unknown:
 * whenever it was not the database that refused.
 */
async function commit(session: ClientSession): Promise<void> {
  const deadline = performance.now() + TRANSACTION_RETRY_TIMEOUT_MS;
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      const isUnknown = isTransient(error) || (error as MongoError).hasErrorLabel('UnknownTransactionCommitResult');
      if (error instanceof MongoServerError && !isUnknown) throw error;
      if (performance.now() >= deadline)
        throw new Error('Whether a transaction was kept is unknown.', { cause: error });
      await delay();
    }
  }
}

/** Returns whether another change won. An unavailable shard also ends a transaction, but is not a conflict. */
function isWriteConflict(error: MongoError): boolean {
  if (isShardUnavailable(error)) return false;
  return error.code === 112 || (error.hasErrorLabel('TransientTransactionError') && error.code !== undefined);
}

const retryOnConflict: RetryOnConflict = async (attempt) => {
  const deadline = performance.now() + TRANSACTION_RETRY_TIMEOUT_MS;
  for (;;) {
    const result = await attempt();
    if (result !== WRITE_CONFLICT) return result;
    if (performance.now() >= deadline) {
      throw new CoreError('conflict', 'The record was changed by others at the same time: try again.');
    }
    await delay();
  }
};

function delay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_BACKOFF_MS));
}

/**
 * What changes the same thing waits for each other: updates do, and transactions that have lost. Then only other
 * processes can come between, or the other of the two.
 */
function serializeByKey(): SerializeByKey {
  const last = new Map<string, Promise<unknown>>();
  return async (thing, work) => {
    const mine = (last.get(thing) ?? Promise.resolve()).then(work, work);
    last.set(thing, mine);
    try {
      return await mine;
    } finally {
      if (last.get(thing) === mine) last.delete(thing);
    }
  };
}
