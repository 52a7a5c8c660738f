import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { OpenEngine, TestDatabase, TestEngine } from '../support/engines/engine.ts';

/** Creates a test that opens an engine, runs `work` with it, and closes it. */
export type CreateStorageTest = (
  work: (engine: StorageEngine, context: TestContext) => Promise<void>,
) => () => Promise<void>;

/** Functions and data that a test of the contract can use besides its engine. */
export interface TestContext {
  readonly location: string;
  /** Sets the clock of an engine that takes the time from the test. */
  setTime(milliseconds: number): void;
  /** Opens another engine on the same data, and closes it after the test. */
  openAnother(): Promise<StorageEngine>;
  /** Makes the database roll back the open transactions of the test's engine. */
  rollBackTransactions(): Promise<void>;
  /** Closes all engines, and opens one again. */
  reopen(): Promise<StorageEngine>;
  /**
   * Returns the test's engine and, if several engines can share data, another engine on the same data. With each of
   * them, a test can change data from outside of a transaction that runs on the test's engine.
   */
  openOnSameData(): Promise<readonly StorageEngine[]>;
}

/**
 * The database that all storage tests of a test file share, because to create a database for each test would take
 * longer.
 */
export class ContractDatabase {
  private database: Promise<TestDatabase> | undefined;

  constructor(readonly engine: TestEngine) {}

  readonly createTest: CreateStorageTest = (work) => async () => {
    this.database ??= this.engine.createDatabase();
    const { location } = await this.database;
    const opened: OpenEngine[] = [];
    let getTime = Date.now;
    const open = async () => {
      const another = await this.engine.open(location, () => getTime());
      opened.push(another);
      return another.engine;
    };
    const closeAll = async () => {
      for (const { close } of opened.splice(0)) await close();
    };
    try {
      const engine = await open();
      await work(engine, {
        location,
        setTime: (milliseconds) => {
          getTime = () => milliseconds;
        },
        openAnother: open,
        rollBackTransactions: async () => opened[0]?.rollBackTransactions?.(),
        reopen: async () => {
          await closeAll();
          return open();
        },
        openOnSameData: async () => (this.engine.isShared ? [engine, await open()] : [engine]),
      });
    } finally {
      await closeAll();
    }
  };

  async remove(): Promise<void> {
    await (await this.database)?.remove();
  }
}
