import pino from 'pino';
import { createNodeSystem } from '../../adapters/node/system.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { tokens, wireCore } from '../../bootstrap/container.ts';
import { readSettings } from '../../bootstrap/read-settings.ts';
import type { Settings } from '../../bootstrap/settings.ts';
import type { Application } from '../../core/application.ts';
import { NO_DNS_SERVER } from './dns-server.ts';
import type { TestDatabase } from './engines/engine.ts';
import { engines } from './engines/engines.ts';
import { createMongodbSettings } from './mongodb-settings.ts';

export type Environment = Readonly<Record<string, string>>;
type StorageName = Settings['STORAGE'];

/** A storage of one test. */
export interface TestStorage {
  /** Whether several processes can use the storage. */
  readonly isShared: boolean;
  /** The settings of a process that uses the storage. */
  readonly settings: Environment;
  /** Stops and removes the storage. */
  stop(): Promise<void>;
}

/**
 * A storage that a test can freeze. While the storage is frozen, calls that write hang, and calls that read may hang.
 */
export interface FreezableStorage extends TestStorage {
  readonly location: string;
  freeze(): void;
  thaw(): void;
}

// The modules of an engine are loaded only if a test needs them.
export const freezableStorages: Readonly<Record<Exclude<StorageName, 'memory'>, () => Promise<FreezableStorage>>> = {
  mongodb: async () => {
    const { startReplicaSet } = await import('./replica-set.ts');
    const { uri, members, stop } = await startReplicaSet();
    const [server] = members;
    return {
      isShared: true,
      location: uri,
      settings: createMongodbSettings(uri),
      freeze: () => server?.freeze(),
      thaw: () => server?.thaw(),
      stop,
    };
  },
  sqlite: async () => {
    const { Database } = await import('../../adapters/sqlite/database.ts');
    const { isShared, location, settings, stop } = await openStorage('sqlite');
    let locked: InstanceType<typeof Database> | undefined;
    return {
      isShared,
      location,
      settings,
      /** Locks the file, so that writes wait. */
      freeze() {
        while (!locked) locked = tryToLock(() => new Database(location, false, 'BEGIN IMMEDIATE'));
      },
      thaw() {
        locked?.exec('ROLLBACK');
        void locked?.close();
        locked = undefined;
      },
      stop,
    };
  },
};

/** The storage that `TEST_STORAGE` names, by default SQLite, as for the service. */
const storageName = (process.env.TEST_STORAGE ?? 'sqlite') as StorageName;
/** The storage that `TEST_STORAGE` names, or SQLite if it names memory storage. */
const durableStorageName = storageName === 'memory' ? 'sqlite' : storageName;

/**
 * Databases of earlier tests of this process, without records. Later tests use these databases again, because MongoDB
 * needs much longer to create the collections and indexes of a database than to delete the records.
 */
const clearedDatabases: TestDatabase[] = [];
process.once('beforeExit', () => Promise.all(clearedDatabases.map(({ remove }) => remove())));

/**
 * Creates a storage without records, of the engine that `TEST_STORAGE` names (by default, a SQLite file). If the engine
 * can have the demo workspace, the server that a test starts creates this workspace.
 */
export async function createTestStorage(): Promise<TestStorage> {
  const { isShared, createDatabase, createSettings, demoSettings } = await engines[storageName]();
  const database = clearedDatabases.pop() ?? (await createDatabase());
  return {
    isShared,
    settings: { ...createSettings(database.location), ...demoSettings },
    async stop() {
      if (!database.clear) return database.remove();
      await database.clear();
      clearedDatabases.push(database);
    },
  };
}

/** Creates an empty storage whose data outlives a process. By default, it is a SQLite file. */
export function createDurableStorage(): Promise<TestStorage> {
  return openStorage(durableStorageName);
}

/** Passes the settings of an empty durable storage to a test, and removes the storage afterwards. */
export async function withDurableStorage(test: (settings: Environment) => Promise<void>): Promise<void> {
  const { settings, stop } = await createDurableStorage();
  try {
    await test(settings);
  } finally {
    await stop();
  }
}

/** Creates an empty durable storage that a test can freeze. By default, it is a SQLite file. */
export function createFreezableStorage(): Promise<FreezableStorage> {
  return freezableStorages[durableStorageName]();
}

async function openStorage(name: StorageName): Promise<TestStorage & { readonly location: string }> {
  const { isShared, createDatabase, createSettings } = await engines[name]();
  const { location, remove } = await createDatabase();
  return { isShared, location, settings: createSettings(location), stop: remove };
}

/** Returns the result of `lock`, or `undefined` if another connection has the lock. */
function tryToLock<T>(lock: () => T): T | undefined {
  try {
    return lock();
  } catch (error) {
    if ((error as { readonly code?: string }).code !== 'ERR_SQLITE_ERROR') throw error;
    return undefined;
  }
}

/**
 * Runs work with the use cases on a storage, as the command line does. If `storage` is a string, it is the URI of a
 * MongoDB.
 */
export function withApplication<T>(storage: string | Environment, work: (app: Application) => Promise<T>): Promise<T> {
  return withEngine(storage, (_, app) => work(app));
}

/**
 * Runs work with the engine of a storage and with the use cases. If `storage` is a string, it is the URI of a MongoDB.
 */
export async function withEngine<T>(
  storage: string | Environment,
  work: (engine: StorageEngine, app: Application) => Promise<T>,
): Promise<T> {
  const environment = typeof storage === 'string' ? createMongodbSettings(storage) : storage;
  const settings = readSettings({ ...NO_DNS_SERVER, ...environment });
  const container = await wireCore(settings, createNodeSystem(), pino({ level: 'silent' }));
  const connections = container.getAll(tokens.connection, { optional: true });
  try {
    for (const connection of connections) await connection.open();
    return await work(container.get(tokens.storage).engine, container.get(tokens.app));
  } finally {
    for (const connection of connections) await connection.close();
  }
}
