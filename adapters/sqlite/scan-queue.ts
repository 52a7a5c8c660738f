import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';

/** Each scan that runs has its own connection, with a cache of 16 MB. */
const MAX_SCAN_COUNT = 4;
/**
 * The maximum number of scans of one workspace that run at the same time, so that another workspace need not wait for
 * them.
 */
const MAX_WORKSPACE_SCAN_COUNT = 2;

interface WaitingScan {
  readonly workspaceId: string;
  start(): void;
}

/**
 * Limits the scans that run at the same time. The next scan is one of the workspace that has the fewest running scans,
 * so that the many scans of one workspace delay only each other.
 *
 * Each running scan reads a snapshot. While any snapshot is read, SQLite cannot restart the write-ahead log. So when
 * the log is long, no scan starts until the running scans have ended, and a checkpoint has copied the log into the
 * file.
 */
export class ScanQueue {
  private readonly waiting: WaitingScan[] = [];
  private readonly running: string[] = [];
  private isCheckpointing = false;

  /** `isLogLong` returns whether the log needs the checkpoint that `checkpoint` makes. */
  constructor(
    private readonly isLogLong: () => boolean,
    private readonly checkpoint: () => Promise<void>,
  ) {}

  get isIdle(): boolean {
    return this.running.length === 0 && this.waiting.length === 0;
  }

  /** Runs a scan when its turn comes. Rejects if it has waited for too long by then. */
  async run<T>(workspaceId: string, scan: () => Promise<T>): Promise<T> {
    const queuedAt = performance.now();
    await new Promise<void>((start) => {
      this.waiting.push({ workspaceId, start });
      this.startNext();
    });
    try {
      if (performance.now() - queuedAt > STORAGE_TIMEOUT_MS)
        throw new StorageUnavailable('Too many lists are being read.');
      return await scan();
    } finally {
      this.running.splice(this.running.indexOf(workspaceId), 1);
      this.startNext();
    }
  }

  private startNext(): void {
    while (!this.isCheckpointing && this.waiting.length > 0 && this.running.length < MAX_SCAN_COUNT) {
      if (this.isLogLong()) {
        if (this.running.length === 0) void this.runCheckpoint();
        return;
      }
      const count = ({ workspaceId }: WaitingScan) => this.running.filter((it) => it === workspaceId).length;
      const next = this.waiting.reduce((best, it) => (count(it) < count(best) ? it : best));
      if (count(next) >= MAX_WORKSPACE_SCAN_COUNT) return;
      this.waiting.splice(this.waiting.indexOf(next), 1);
      this.running.push(next.workspaceId);
      next.start();
    }
  }

  private async runCheckpoint(): Promise<void> {
    this.isCheckpointing = true;
    try {
      await this.checkpoint();
    } finally {
      this.isCheckpointing = false;
      this.startNext();
    }
  }
}
