import { exec, suite as uvuSuite } from 'uvu';
import { MissingDependencyError } from './missing-dependency-error.ts';
import { RESULTS, type Results, type StartedTest } from './results.ts';
import { TEST_TIMEOUT_MS } from './scale.ts';

/**
 * A test closes the resources that it opens. Only a shared service stays open until the last test (`runAfterLastTest`).
 */
export type Test = () => unknown;

/**
 * Tests by title. Computed titles need a list of pairs: an object would keep only the last of two tests with the same
 * title.
 */
export type Tests = Readonly<Record<string, Test>> | readonly (readonly [title: string, test: Test])[];

const EXIT_TIMEOUT_MS = 30_000;
/**
 * If this number of tests hang, the remaining tests of the process fail without being run, so that the process ends.
 */
const MAX_HANGING_COUNT = 3;
const counts = { registered: 0, completed: 0, passed: 0, skipped: 0, hanging: 0, reasons: new Set<string>() };
const titles = new Set<string>();
const cleanups: (() => Promise<void>)[] = [];

/**
 * Declares and runs a suite. Throws if two tests of a file have the same title. Pass shared tests as separate
 * arguments: a spread in an object would silently replace a test by one with the same title.
 *
 * No other file imports uvu. With uvu alone, these count as passed: a suite that is not run, a hook that throws, and a
 * test that throws a value other than an `Error`.
 */
export function suite(name: string, ...groups: readonly Tests[]): void {
  const tests = groups.flatMap((group) => (isList(group) ? group : Object.entries(group)));
  for (const [title] of tests) addTitle(title, name);
  const uvu = uvuSuite(name);
  for (const [title, test] of tests) register(uvu, name, title, test);
  uvu.run();
}

/** Runs work after the last test of this process. */
export function runAfterLastTest(work: () => Promise<void>): void {
  cleanups.push(work);
}

/**
 * Loads files of tests one after another, and then runs their suites (`run-files.ts`). Throws if a file declares no
 * test.
 */
export async function runFiles(urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const { registered } = counts;
    titles.clear();
    await import(url);
    if (counts.registered === registered) throw new Error(`${url} declares no test`);
  }
  await exec();
}

function isList(group: Tests): group is Extract<Tests, readonly unknown[]> {
  return Array.isArray(group);
}

function addTitle(title: string, suiteName: string): void {
  if (titles.has(title)) throw new Error(`suite "${suiteName}": this file has two tests with the title "${title}"`);
  titles.add(title);
}

function register(uvu: ReturnType<typeof uvuSuite>, suiteName: string, title: string, test: Test): void {
  counts.registered++;
  uvu(title, async () => {
    const started: StartedTest = { startedTest: `${suiteName} "${title}"` };
    process.send?.(started);
    try {
      await runWithTimeout(test);
    } catch (error) {
      if (error instanceof MissingDependencyError && (error.isOptional || !process.env.CI)) {
        counts.skipped++;
        counts.reasons.add(error.message);
        return;
      }
      throw error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
    } finally {
      counts.completed++;
      if (counts.completed === counts.registered) {
        for (const cleanup of cleanups) await cleanup();
        setTimeout(exitWithFailure, EXIT_TIMEOUT_MS).unref();
      }
    }
    counts.passed++;
  });
}

/** Ends the process if something that a test started, such as a load (`startLoad`), still runs. */
function exitWithFailure(): void {
  process.stdout.write(`something that a test started still runs ${EXIT_TIMEOUT_MS} ms after the last test\n`);
  process.exit(1);
}

process.on('exit', () => {
  const { registered, passed, skipped, reasons } = counts;
  const results: Results = { passed, failed: registered - passed - skipped, skipped, reasons: [...reasons] };
  process.stdout.write(`\n${RESULTS}${JSON.stringify(results)}\n`);
  if (results.failed > 0 || registered === 0) process.exitCode = 1;
});

async function runWithTimeout(test: Test): Promise<void> {
  if (counts.hanging >= MAX_HANGING_COUNT) throw new Error(`not run, because ${counts.hanging} other tests hang`);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => {
      counts.hanging++;
      reject(new Error(`did not end within ${TEST_TIMEOUT_MS} ms`));
    }, TEST_TIMEOUT_MS);
  });
  try {
    await Promise.race([test(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
