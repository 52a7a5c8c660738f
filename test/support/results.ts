/** Begins the line by which the runner learns how a file of tests ended. */
export const RESULTS = '#results ';

/** How a file of tests ended. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What this machine lacks, where tests were skipped. */
  readonly reasons: readonly string[];
}
