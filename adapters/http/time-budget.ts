/**
 * The interval at which one timer checks the running work of all budgets. A timer for each request would take more
 * processor time than the rest of `TimeBudget`.
 */
const CHECK_INTERVAL_MS = 50;

interface RunningWork {
  readonly endsAt: number;
  reject(error: Error): void;
}

/** The running work of all budgets. */
const running = new Set<RunningWork>();
let isScheduled = false;

/** The time that the calls of `run` for a request may take together. The time between these calls does not count. */
export class TimeBudget {
  constructor(private remainingMs: number) {}

  /**
   * Settles like `work`, or rejects when the budget is used up. The work then continues, and its result is discarded.
   */
  async run<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let entry: RunningWork | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        entry = { endsAt: startedAt + this.remainingMs, reject };
        running.add(entry);
        schedule();
        work.then(resolve, reject);
      });
    } finally {
      running.delete(entry as RunningWork);
      this.remainingMs -= performance.now() - startedAt;
    }
  }
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setTimeout(rejectExpired, CHECK_INTERVAL_MS);
}

function rejectExpired(): void {
  isScheduled = false;
  const now = performance.now();
  for (const { endsAt, reject } of running) {
    if (now >= endsAt) reject(new Error('The storage did not respond before the deadline of the request.'));
  }
  if (running.size > 0) schedule();
}
