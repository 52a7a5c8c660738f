import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReplicaSet } from '../support/replica-set.ts';
import { type ProcessUsage, usageOf } from '../support/usage.ts';

type Environment = Readonly<Record<string, string>>;

/** The databases of a run. */
export interface BenchDatabases {
  /** Returns the settings of this service for the database with this name. The database is created on first use. */
  createSettings(name: string): Environment;
  /** The resource usage of the database server. It is `undefined` for SQLite, which runs in the measured server. */
  readonly usage: ProcessUsage | undefined;
  stop(): Promise<void>;
}

/** Opens the databases of each storage that can be measured. */
export const databases = {
  mongodb: async (): Promise<BenchDatabases> => {
    const { uri, findPrimary, stop } = await startReplicaSet();
    const options = 'w=majority&journal=true&maxPoolSize=50';
    return {
      createSettings: (name) => ({
        STORAGE: 'mongodb',
        MONGODB_URI: `${uri.replace('/?', `/${name}?`)}&${options}`,
      }),
      usage: usageOf((await findPrimary()).pid),
      stop,
    };
  },
  /**
   * Files in the temporary folder. It must be on a disk: in memory, a commit would not wait for a disk as it does in
   * production.
   */
  sqlite: async (): Promise<BenchDatabases> => {
    const folder = await mkdtemp(join(tmpdir(), 'advocacy-bench-'));
    return {
      createSettings: (name) => ({
        STORAGE: 'sqlite',
        SQLITE_FILE: join(folder, `${name}.db`),
        DEMO_WORKSPACE: 'false',
      }),
      usage: undefined,
      stop: () => rm(folder, { recursive: true }),
    };
  },
};

/** The name of a storage that can be measured. */
export type StorageName = keyof typeof databases;
