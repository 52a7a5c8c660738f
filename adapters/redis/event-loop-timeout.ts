const TICK_INTERVAL_MS = 20;

interface PendingWork {
  readonly startTick: number;
  reject(): void;
}

/**
 * A timeout that does not count the time in which the event loop of this process is blocked. So responses that arrive during
 * this time are read before the timeout ends.
 */
export class EventLoopTimeout {
  private readonly pending = new Set<PendingWork>();
  private tickCount = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly maxTickCount: number;

  constructor(milliseconds: number) {
    this.maxTickCount = Math.ceil(milliseconds / TICK_INTERVAL_MS);
  }

  /** Settles as the work does. Rejects if the work takes longer than the timeout. */
  apply<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry: PendingWork = { startTick: this.tickCount, reject: () => reject(new Error('no response')) };
      this.pending.add(entry);
      this.timer ??= setInterval(() => this.tick(), TICK_INTERVAL_MS);
      work.then(resolve, reject).finally(() => this.pending.delete(entry));
    });
  }

  /** Rejects all pending work. */
  cancelAll(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    for (const { reject } of this.pending) reject();
    this.pending.clear();
  }

  private tick(): void {
    this.tickCount++;
    if (this.pending.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    // The set has the oldest entries first. So if one entry is within its timeout, all entries after it are, too.
    for (const entry of this.pending) {
      if (this.tickCount - entry.startTick <= this.maxTickCount) return;
      this.pending.delete(entry);
      entry.reject();
    }
  }
}
