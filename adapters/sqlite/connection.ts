import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { createSlowListError, LIST_TIMEOUT_MS } from '../persistence/record-store.ts';
import { PROBED_STORE_NAME } from '../persistence/storage-engine.ts';
import { backUp } from './backup.ts';
import { Database, probeFile, retryWhileBusy } from './database.ts';
import { identifyFiles, MAX_SCANNED_LOG_PAGE_COUNT, openReader, openWriter, rejectUpgradedFile } from './file.ts';
import { quote } from './layout.ts';
import type { Steps } from './list.ts';
import type { Executor } from './record-store.ts';
import { ScanQueue } from './scan-queue.ts';
import { WriteQueue } from './write-queue.ts';

/** The maximum time for which all scans together block one iteration of the event loop. */
const MAX_BLOCKING_MS = 5;
/** The minimum time between two connections that test whether the file can be read. */
const PROBE_INTERVAL_MS = 1_000;

interface Connections {
  readonly writer: Database;
  readonly reader: Database;
  readonly queue: WriteQueue;
  /** Throws if the files at the path are not those that the connections use. */
  checkFiles(): void;
}

/**
 * The connections to a file. One connection writes. Another reads only committed data, even while the first one is in a
 * transaction. Each scan uses a further connection.
 */
export class SqliteConnection implements Executor {
  private connections: Connections | undefined;
  private readonly scans = new ScanQueue(
    () => this.isLogLong(),
    () => this.copyLog(),
  );
  /** The unused connections for scans. */
  private readonly idleScanners: Database[] = [];
  /** The length of the log at which scans wait for a checkpoint. */
  private maxLogPageCount = MAX_SCANNED_LOG_PAGE_COUNT;
  private probedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly file: string) {}

  /**
   * Opens the file, and first creates or upgrades it if necessary. Rejects with `UnusableFile` if the file cannot be
   * used.
   */
  async open(): Promise<void> {
    const writer = await openWriter(this.file);
    try {
      const reader = await openReader(this.file);
      const files = identifyFiles(this.file);
      const checkFiles = () => {
        if (identifyFiles(this.file) === files) return;
        throw new StorageUnavailable(`${this.file}, or its file -wal or -shm, was replaced. Restart the server.`);
      };
      this.connections = { writer, reader, queue: new WriteQueue(writer, checkFiles), checkFiles };
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /** Waits for all queued writes and the running scans, and closes the file. */
  async close(): Promise<void> {
    const { connections } = this;
    this.connections = undefined;
    if (!connections) return;
    await connections.queue.drain();
    while (!this.scans.isIdle) await delay(1);
    await Database.closeAll([...this.idleScanners.splice(0), connections.reader, connections.writer]);
  }

  /**
   * Rejects if the file is unreadable, missing or replaced, or was upgraded by a newer version of the service. At most
   * once in `PROBE_INTERVAL_MS`, also reads the file through a new connection, which has nothing in its cache.
   */
  async checkReady(): Promise<void> {
    const { reader, checkFiles } = this.getOpen();
    checkFiles();
    await retryWhileBusy(() => {
      rejectUpgradedFile(reader);
      if (performance.now() - this.probedAt < PROBE_INTERVAL_MS) return;
      probeFile(this.file, `SELECT 1 FROM ${quote(PROBED_STORE_NAME)} WHERE id = '${randomUUID()}'`);
      this.probedAt = performance.now();
    });
  }

  /** Writes a consistent copy of the database to a new file (backup.ts). */
  backUp(file: string): Promise<void> {
    return backUp(this.getOpen().reader, file);
  }

  read<T>(work: (database: Database) => T): Promise<T> {
    return retryWhileBusy(() => work(this.getOpen().reader));
  }

  async scan<T>(workspaceId: string, start: (database: Database) => Steps<T>, isAbandoned = () => false): Promise<T> {
    this.getOpen();
    const scan = async () => {
      // If the file was closed meanwhile, all waiting scans are rejected, one after another.
      this.getOpen();
      const scanner = this.idleScanners.pop() ?? (await openReader(this.file));
      try {
        // All steps read the same snapshot.
        scanner.exec('BEGIN');
        return await this.runInSteps(() => start(scanner), isAbandoned);
      } finally {
        if (scanner.isInTransaction) scanner.exec('ROLLBACK');
        this.idleScanners.push(scanner);
      }
    };
    return this.scans.run(workspaceId, scan);
  }

  /** If `work` is asynchronous, no other write runs until `work` has ended. */
  async write<T>(work: (database: Database) => T | Promise<T>, isDeferred = false): Promise<T> {
    const { queue, writer } = this.getOpen();
    return queue.run(() => work(writer), isDeferred);
  }

  private getOpen(): Connections {
    if (!this.connections) throw new Error('The storage is not open.');
    return this.connections;
  }

  /** Returns whether scans must wait for a checkpoint, because SQLite cannot restart the log while they read it. */
  private isLogLong(): boolean {
    if (!this.connections) return false;
    const [[, pageCount, copiedCount] = []] = this.connections.reader.all('PRAGMA wal_checkpoint(NOOP)');
    return pageCount > this.maxLogPageCount && copiedCount < pageCount;
  }

  /**
   * Copies the log into the file, so that the next commit restarts the log. Without effect while another process reads
   * the log.
   */
  private async copyLog(): Promise<void> {
    while (this.connections?.writer.isInTransaction) await nextIteration();
    if (!this.connections) return;
    const [[, pageCount, copiedCount] = []] = this.connections.writer.all('PRAGMA wal_checkpoint(PASSIVE)');
    this.maxLogPageCount = MAX_SCANNED_LOG_PAGE_COUNT + (copiedCount < pageCount ? pageCount : 0);
  }

  /**
   * Runs steps until they return a result. The running scans divide `MAX_BLOCKING_MS` into equal parts. Each time these
   * steps have taken as long as one part, the event loop can run. If the file is busy, starts again with the first
   * step. Throws `invalid` if the steps take longer than `LIST_TIMEOUT_MS`, or if nobody waits for the result.
   */
  private async runInSteps<T>(start: () => Steps<T>, isAbandoned: () => boolean): Promise<T> {
    const end = performance.now() + LIST_TIMEOUT_MS;
    let steps: Steps<T> | undefined;
    try {
      for (;;) {
        if (isAbandoned() || performance.now() > end) throw createSlowListError();
        const pauseAt = performance.now() + MAX_BLOCKING_MS / this.scans.runningCount;
        const next = () => {
          steps ??= start();
          try {
            for (;;) {
              const { done, value } = steps.next();
              if (done || performance.now() > pauseAt) return { done, value };
            }
          } catch (error) {
            steps = undefined;
            throw error;
          }
        };
        const { done, value } = await retryWhileBusy(next);
        if (done) return value as T;
        await nextIteration();
      }
    } finally {
      // Closes the iterators of the steps.
      steps?.return(undefined as T);
    }
  }
}
