import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { StorageEngine } from '../adapters/persistence/storage-engine.ts';
import type { IsUp } from '../adapters/prometheus/metrics.ts';
import type { System } from '../core/shared/system.ts';
import type { Settings } from './settings.ts';
import { StartupError } from './startup-error.ts';

/** A connection to data outside of this process. It is opened at startup and closed at shutdown. */
export interface Connection {
  /**
   * Resolves when the data can be used. Also resolves if the data is unavailable, and then retries in the background.
   * Rejects with a `StartupError` if the data cannot be used until an operator changes something.
   */
  open(): Promise<void>;
  close(): Promise<void>;
}

interface StorageChoice {
  /** The name of the setting that says where the records are. It has no effect with another storage. */
  readonly locationSetting?: 'SQLITE_FILE' | 'MONGODB_URI';
  /** Whether other processes, such as the command line, can use the same records. */
  readonly isShared: boolean;
  /** Whether the server can create the demo workspace. */
  readonly hasDemo: boolean;
  /** The program that backs up a storage that `advocacy backup` does not support. */
  readonly backUpProgram?: string;
  /** Returns a line for operators that says where the records are. */
  describeLocation?(settings: Settings): string;
  /** Returns whether the database exists. Rejects if this cannot be found out. */
  databaseExists?(settings: Settings): Promise<boolean>;
  /** Returns the location that a URL of `advocacy copy` names, or `undefined` if the URL is not one of this storage. */
  parseUrl?(url: string): string | undefined;
  /** Loads and creates the storage engine. */
  create(settings: Settings, system: System, log: Pick<Logger, 'warn'>): Promise<CreatedStorage>;
}

export interface CreatedStorage {
  readonly engine: StorageEngine;
  readonly connection?: Connection;
  readonly isUp?: IsUp;
  /** Writes a consistent copy of the records into a new file. Rejects if the file exists. */
  backUp?(file: string): Promise<void>;
}

/** The storage engines by the values of `STORAGE`. */
export const storages: Readonly<Record<Settings['STORAGE'], StorageChoice>> = {
  memory: {
    isShared: false,
    hasDemo: true,
    describeLocation: () => 'The data is in memory. All changes are lost when the server stops.',
    async create(_settings, { now }) {
      const { createMemoryEngine } = await import('../adapters/memory/engine.ts');
      return { engine: createMemoryEngine(now) };
    },
  },
  sqlite: {
    locationSetting: 'SQLITE_FILE',
    isShared: true,
    hasDemo: true,
    describeLocation: ({ SQLITE_FILE }) => `The data is in ${resolve(SQLITE_FILE)}`,
    async databaseExists({ SQLITE_FILE }) {
      const stats = statSync(SQLITE_FILE, { throwIfNoEntry: false });
      // SQLite creates a database in an empty file.
      return stats !== undefined && !(stats.isFile() && stats.size === 0);
    },
    // In a URL, a host follows two slashes. So `sqlite://data/a.db` is rejected: otherwise, it would mean the file
    // `/data/a.db`.
    parseUrl: (url) => /^sqlite:((?!\/\/[^/]).*)$/s.exec(url)?.[1],
    async create({ SQLITE_FILE }, { now }) {
      const { createSqliteEngine, UnusableFile } = await import('../adapters/sqlite/engine.ts');
      // SQLite gives some relative names a special meaning, such as `:memory:`.
      const { engine, connection } = createSqliteEngine(resolve(SQLITE_FILE), now);
      const open = () =>
        connection.open().catch((error) => {
          throw error instanceof UnusableFile ? new StartupError([`SQLITE_FILE: ${error.message}`]) : error;
        });
      return {
        engine,
        connection: { open, close: () => connection.close() },
        isUp: () =>
          engine.checkReady().then(
            () => true,
            () => false,
          ),
        backUp: (file) => connection.backUp(file),
      };
    },
  },
  mongodb: {
    locationSetting: 'MONGODB_URI',
    isShared: true,
    hasDemo: false,
    backUpProgram: 'mongodump',
    parseUrl: (url) => (/^mongodb(\+srv)?:/.test(url) ? url : undefined),
    async databaseExists({ MONGODB_URI }) {
      const { databaseExists } = await import('../adapters/mongodb/database-exists.ts');
      return databaseExists(MONGODB_URI);
    },
    async create({ MONGODB_URI }, _system, log) {
      const { createMongodbEngine, UnsupportedDatabase } = await import('../adapters/mongodb/engine.ts');
      const { engine, connection } = createMongodbEngine(MONGODB_URI, (line) => log.warn(line));
      const open = () =>
        connection.waitForStartup().catch((error) => {
          throw error instanceof UnsupportedDatabase ? new StartupError([`MONGODB_URI: ${error.message}`]) : error;
        });
      return { engine, connection: { open, close: () => connection.close() }, isUp: () => connection.isUp };
    },
  },
};

/** Returns the names of the storages that have a capability, for messages: `sqlite or mongodb`. */
export function listStoragesWith(capability: 'isShared' | 'hasDemo'): string {
  return Object.keys(storages)
    .filter((name) => storages[name as Settings['STORAGE']][capability])
    .join(' or ');
}
