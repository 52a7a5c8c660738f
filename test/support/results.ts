/** The start of the line with which a file of tests reports its results to the runner. */
export const RESULTS = '#results ';

/** The results of a file of tests. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why tests were skipped: the missing programs, each once. */
  readonly reasons: readonly string[];
}

/** The message with which a file of tests tells the runner that a test starts. */
export interface StartedTest {
  readonly startedTest: string;
}
