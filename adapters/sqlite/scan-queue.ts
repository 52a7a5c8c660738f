import { setTimeout as delay } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';

/** Each scan that runs has its own connection, with a cache of 16 MB. */
const MAX_SCAN_COUNT = 4;
/**
 * The maximum number of scans of one workspace that run at the same time, so that another workspace need not wait for
 * them.
 */
const MAX_WORKSPACE_SCAN_COUNT = 2;

/**
 * Limits the scans that run at the same time. A workspace has at most `MAX_WORKSPACE_SCAN_COUNT` scans among those that
 * run or are next, so that the many scans of one workspace delay only each other.
 *
 * Each running scan reads a snapshot. While any snapshot is read, SQLite cannot restart the write-ahead log. So when
 * the log is long, no scan starts until the running scans have ended, and a checkpoint has copied the log into the
 * file.
 */
export class ScanQueue {
  runningCount = 0;
  private readonly limit = pLimit(MAX_SCAN_COUNT);
  private readonly workspaceLimits = new Map<string, LimitFunction>();
  private checkpointing: Promise<void> | undefined;

  /** `isLogLong` returns whether the log needs the checkpoint that `checkpoint` makes. */
  constructor(
    private readonly isLogLong: () => boolean,
    private readonly checkpoint: () => Promise<void>,
  ) {}

  get isIdle(): boolean {
    return this.workspaceLimits.size === 0;
  }

  /** Runs a scan when its turn comes. Rejects if it has waited for too long by then. */
  async run<T>(workspaceId: string, scan: () => Promise<T>): Promise<T> {
    const queuedAt = performance.now();
    const workspaceLimit = this.workspaceLimits.get(workspaceId) ?? pLimit(MAX_WORKSPACE_SCAN_COUNT);
    this.workspaceLimits.set(workspaceId, workspaceLimit);
    const start = async () => {
      while (this.isLogLong()) {
        this.checkpointing ??= this.checkpointWithoutScans();
        await this.checkpointing;
      }
      if (performance.now() - queuedAt > STORAGE_TIMEOUT_MS)
        throw new StorageUnavailable('Too many lists are being read.');
      this.runningCount++;
      return scan().finally(() => this.runningCount--);
    };
    try {
      return await workspaceLimit(() => this.limit(start));
    } finally {
      if (workspaceLimit.activeCount + workspaceLimit.pendingCount === 0) this.workspaceLimits.delete(workspaceId);
    }
  }

  private async checkpointWithoutScans(): Promise<void> {
    while (this.runningCount > 0) await delay(1);
    await this.checkpoint().finally(() => (this.checkpointing = undefined));
  }
}
