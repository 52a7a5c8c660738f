import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { type Database, retryWhileBusy, toStorageError } from './database.ts';
import { rejectUpgradedFile } from './file.ts';
import { updateSearchIndexes } from './search.ts';

/**
 * After so many milliseconds, a commit group (the writes of one commit) takes no more writes, because it blocks the
 * event loop.
 */
const MAX_COMMIT_GROUP_MS = 10;
/** After so many milliseconds of writing without a break, the queue pauses, so that other processes can write. */
const MAX_BURST_MS = 50;
/** The length of the pause. It must be longer than the interval at which another process retries (database.ts). */
const PAUSE_MS = 4;
const FILE_CHECK_INTERVAL_MS = 1_000;
/**
 * The interval at which a commit group updates the search indexes. If it updated them only before its commit,
 * `MAX_COMMIT_GROUP_MS` would not limit the time of these updates. Indexing a text of 5,000 characters takes about two
 * milliseconds.
 */
const SEARCH_INDEX_INTERVAL_MS = 2;

interface Write {
  readonly isDeferred: boolean;
  run(): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Runs the writes of a connection one after another. Commits waiting writes together, as a commit group: the disk takes
 * about as long for a commit of many writes as for a commit of a single write. A write resolves after its commit,
 * unless it `isDeferred`.
 */
export class WriteQueue {
  private readonly waiting: Write[] = [];
  private running: Promise<void> | undefined;
  private checkedAt = Number.NEGATIVE_INFINITY;

  /** `checkFile` throws if the files of the database are missing or replaced. */
  constructor(
    private readonly database: Database,
    private readonly checkFile: () => void,
  ) {}

  /**
   * Runs `work`. If `work` throws, only its own changes are undone, unless the error (such as a full disk) ends the
   * transaction of the whole commit group. Also rejects if the commit fails, or if another process writes for ten
   * seconds, even if this write has waited for less. With `isDeferred`, resolves before the commit, so that a write
   * that the caller adds then can be in the same commit group. If the commit fails, the added write is also rejected if
   * it is in this group. In a later group, it runs without the changes of `work`.
   */
  run<T>(work: () => T | Promise<T>, isDeferred = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ isDeferred, run: work, resolve: resolve as Write['resolve'], reject });
      this.running ??= this.runAll();
    });
  }

  /** Resolves when all writes have ended. */
  async drain(): Promise<void> {
    while (this.running) await this.running;
  }

  private async runAll(): Promise<void> {
    let burstStartedAt = performance.now();
    do {
      await nextIteration();
      if (performance.now() - burstStartedAt > MAX_BURST_MS) {
        await delay(PAUSE_MS);
        burstStartedAt = performance.now();
      }
      if (await this.begin()) await this.runCommitGroup();
    } while (this.waiting.length > 0);
    this.running = undefined;
  }

  /**
   * Begins a transaction. Waits while another process writes. Returns `false` if all waiting writes were rejected, such
   * as those to a file that a newer version has upgraded.
   */
  private async begin(): Promise<boolean> {
    try {
      await retryWhileBusy(() => this.database.exec('BEGIN IMMEDIATE'));
      // A record of this version would lack columns of the newer version, and the tables may differ.
      rejectUpgradedFile(this.database);
      if (performance.now() - this.checkedAt > FILE_CHECK_INTERVAL_MS) {
        this.checkFile();
        this.checkedAt = performance.now();
      }
      return true;
    } catch (error) {
      if (this.database.isInTransaction) this.database.exec('ROLLBACK');
      for (const { reject } of this.waiting.splice(0)) reject(toStorageError(error));
      return false;
    }
  }

  private async runCommitGroup(): Promise<void> {
    const startedAt = performance.now();
    let indexedAt = startedAt;
    const group: Write[] = [];
    const settleFunctions: (() => void)[] = [];
    // Whether the callers of writes that have resolved early may add more writes to this commit group.
    let expectsMore = false;
    try {
      for (let write = this.waiting.shift(); write; write = this.waiting.shift()) {
        group.push(write);
        settleFunctions.push(await this.runInSavepoint(write));
        if (performance.now() - indexedAt > SEARCH_INDEX_INTERVAL_MS) {
          updateSearchIndexes(this.database);
          indexedAt = performance.now();
        }
        if (performance.now() - startedAt > MAX_COMMIT_GROUP_MS) break;
        expectsMore ||= write.isDeferred;
        if (expectsMore && this.waiting.length === 0) {
          expectsMore = false;
          await nextIteration();
        }
      }
      updateSearchIndexes(this.database);
      this.database.exec('COMMIT');
    } catch (error) {
      // An error such as a full disk ends the transaction of the whole commit group.
      if (this.database.isInTransaction) this.database.exec('ROLLBACK');
      for (const { reject } of group) reject(toStorageError(error));
      return;
    }
    for (const settle of settleFunctions) settle();
  }

  /**
   * Runs a write, and returns a function that settles it after the commit. Throws if an error of the write ended the
   * whole transaction.
   */
  private async runInSavepoint({ isDeferred, run, resolve, reject }: Write): Promise<() => void> {
    this.database.run('SAVEPOINT write');
    try {
      const result = run();
      const value = result instanceof Promise ? await result : result;
      this.database.run('RELEASE write');
      if (isDeferred) resolve(value);
      return () => resolve(value);
    } catch (error) {
      if (!this.database.isInTransaction) throw error;
      this.database.exec('ROLLBACK TO write; RELEASE write');
      return () => reject(toStorageError(error));
    }
  }
}
