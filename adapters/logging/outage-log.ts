const MIN_INTERVAL_MS = 10_000;

/** Logs when a server becomes unavailable and when it is available again. Logs at most one failure in ten seconds. */
export class OutageLog {
  private lastFailureLoggedAt = Number.NEGATIVE_INFINITY;
  private hasLoggedOutage = false;

  /** `log` gets a line, and the error of a failure if there is one. */
  constructor(private readonly log: (line: string, error?: unknown) => void) {}

  /** Logs a failure. If it is an outage, `logEnd` logs its end. */
  logFailure(line: string, isOutage = true, error?: unknown): void {
    const now = performance.now();
    if (now - this.lastFailureLoggedAt < MIN_INTERVAL_MS) return;
    this.lastFailureLoggedAt = now;
    if (isOutage) this.hasLoggedOutage = true;
    this.log(line, error);
  }

  /** Logs the end of an outage, if its beginning was logged. */
  logEnd(line: string): void {
    if (this.hasLoggedOutage) this.log(line);
    this.hasLoggedOutage = false;
  }
}
