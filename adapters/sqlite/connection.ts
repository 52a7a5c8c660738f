import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { PROBED_STORE_NAME } from '../persistence/storage-engine.ts';
import { backUp } from './backup.ts';
import { Database, probeFile, retryWhileBusy } from './database.ts';
import { openReader, openWriter, rejectUpgradedFile } from './file.ts';
import { quote } from './layout.ts';
import type { Steps } from './list.ts';
import type { Executor } from './record-store.ts';
import { WriteQueue } from './write-queue.ts';

/** The maximum time for which all scans together block one iteration of the event loop. */
const MAX_BLOCKING_MS = 5;
const MAX_SCAN_COUNT = 4;

interface Connections {
  readonly writer: Database;
  readonly reader: Database;
  readonly queue: WriteQueue;
  readonly inode: number;
}

/**
 * The connections to a file. One connection writes. Another reads only committed data, even while the first one is in a transaction. Scans
 * use up to `MAX_SCAN_COUNT` further connections.
 */
export class SqliteConnection implements Executor {
  private connections: Connections | undefined;
  /** The unused connections for scans. */
  private readonly idleScanners: Database[] = [];
  private scanCount = 0;
  private readonly waitingScans: (() => void)[] = [];

  constructor(private readonly file: string) {}

  /** Opens the file, and first creates or upgrades it if necessary. Rejects with `UnusableFile` if the file cannot be used. */
  async open(): Promise<void> {
    const writer = await openWriter(this.file);
    try {
      const reader = await openReader(this.file);
      this.connections = { writer, reader, queue: new WriteQueue(writer), inode: statSync(this.file).ino };
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
    while (this.scanCount > 0) await delay(1);
    await Database.closeAll([...this.idleScanners.splice(0), connections.reader, connections.writer]);
  }

  /**
   * Reads the file with a new connection. Rejects if the file is unreadable or missing, was replaced since the start, or was upgraded by a
   * newer version of the service.
   */
  async checkReady(): Promise<void> {
    const { inode, reader } = this.getOpen();
    if (statSync(this.file).ino !== inode) throw new Error(`${this.file} was replaced.`);
    await retryWhileBusy(() => {
      probeFile(this.file, `SELECT 1 FROM ${quote(PROBED_STORE_NAME)} WHERE id = '${randomUUID()}'`);
      rejectUpgradedFile(reader);
    });
  }

  /** Writes a consistent copy of the database to a new file (backup.ts). */
  backUp(file: string): Promise<void> {
    return backUp(this.getOpen().reader, file);
  }

  read<T>(work: (database: Database) => T): Promise<T> {
    return retryWhileBusy(() => work(this.getOpen().reader));
  }

  async readInSteps<T>(start: (database: Database) => Steps<T>): Promise<T> {
    const { reader } = this.getOpen();
    return this.runInSteps(() => start(reader));
  }

  async scan<T>(start: (database: Database) => Steps<T>): Promise<T> {
    while (this.scanCount >= MAX_SCAN_COUNT) await new Promise<void>((resolve) => this.waitingScans.push(resolve));
    this.scanCount++;
    let scanner: Database | undefined;
    try {
      // If the file was closed meanwhile, all waiting scans are rejected, one after another.
      this.getOpen();
      scanner = this.idleScanners.pop() ?? (await openReader(this.file));
      return await this.runInSteps(() => start(scanner as Database));
    } finally {
      this.scanCount--;
      if (scanner) this.idleScanners.push(scanner);
      this.waitingScans.shift()?.();
    }
  }

  /** If `work` is asynchronous, no other write runs until `work` has ended. */
  async write<T>(work: (database: Database) => T | Promise<T>, resolvesEarly = false): Promise<T> {
    const { queue, writer } = this.getOpen();
    return queue.run(() => work(writer), resolvesEarly);
  }

  private getOpen(): Connections {
    if (!this.connections) throw new Error('The storage is not open.');
    return this.connections;
  }

  /**
   * Runs steps until they return a result. The running scans divide `MAX_BLOCKING_MS` into equal parts. Each time these steps have taken as
   * long as one part, the event loop can run. If the file is busy, starts again with the first step.
   */
  private async runInSteps<T>(start: () => Steps<T>): Promise<T> {
    let steps: Steps<T> | undefined;
    for (;;) {
      const deadline = performance.now() + MAX_BLOCKING_MS / Math.max(1, this.scanCount);
      const next = () => {
        steps ??= start();
        try {
          for (;;) {
            const { done, value } = steps.next();
            if (done || performance.now() > deadline) return { done, value };
          }
        } catch (error) {
          steps = undefined;
          throw error;
        }
      };
      const { done, value } = await retryWhileBusy(next);
      if (done) return value as T;
      await nextTurn();
    }
  }
}
