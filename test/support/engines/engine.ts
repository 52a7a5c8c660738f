import type { StorageEngine } from '../../../adapters/persistence/storage-engine.ts';
import type { Settings } from '../../../bootstrap/settings.ts';

/** A storage engine as the tests use it: how to open it, and what it can do. */
export interface TestEngine {
  /** The value of the setting `STORAGE`. */
  readonly name: Settings['STORAGE'];
  /** Whether the engine is the model that the other engines are compared with. */
  readonly isModel?: true;
  /** What happens to a change from outside while a transaction runs (adapters/persistence/storage-engine.ts). */
  readonly transactions: 'optimistic' | 'serialized';
  /** Whether several engines, also in other processes, can open the same database, which outlives them. */
  readonly isShared: boolean;
  /** Whether the engine takes the time from the argument of `open`. Otherwise its own clock has the current time. */
  readonly takesClock: boolean;
  /** Creates an empty database. */
  createDatabase(): Promise<TestDatabase>;
  /** Creates an empty database that no engine has opened, so that the first engine creates its tables. */
  createUnopenedDatabase(): Promise<TestDatabase>;
  /**
   * Runs a list of at least 10,000 records so that it exceeds its time limit. Missing if the engine has no time limit.
   */
  readonly runSlowList?: (list: () => Promise<unknown>) => Promise<unknown>;
  /** Returns the settings of a service on the database at a location, without a demo workspace. */
  createSettings(location: string): Readonly<Record<string, string>>;
  /**
   * The settings that add the demo workspace with `DEMO_API_KEY`. They are missing if the engine cannot have a demo
   * workspace.
   */
  readonly demoSettings?: Readonly<Record<string, string>>;
  /** Opens an engine on the database at a location, and waits until it is ready. */
  open(location: string, now: () => number): Promise<OpenEngine>;
  /**
   * Returns about how many records and index entries the engine examines to read a list of the database at a location.
   * It is `unbounded` if the engine promises no bound on the work of a list, and `unmeasurable` if nothing here can
   * count these records and entries.
   */
  readonly countExaminedRecords: CountExaminedRecords | 'unbounded' | 'unmeasurable';
}

type CountExaminedRecords = (location: string, readList: () => Promise<unknown>) => Promise<number>;

export interface TestDatabase {
  /** A path or a connection string, which other processes can open, too. */
  readonly location: string;
  remove(): Promise<void>;
  /** Deletes all records. The method is missing if creating another database takes less time. */
  clear?(): Promise<void>;
}

export interface OpenEngine {
  readonly engine: StorageEngine;
  /** Makes the database roll back the open transactions of the engine, as after a failure of its own. */
  rollBackTransactions?(): Promise<void>;
  close(): Promise<void>;
}
