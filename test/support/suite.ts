import { suite as uvuSuite } from 'uvu';
import { MissingDependencyError } from './missing-dependency-error.ts';
import { RESULTS, type Results } from './results.ts';
import { SOAK_SECONDS, scale } from './scale.ts';

const TEST_TIMEOUT_MS = scale(60_000, 600_000 + SOAK_SECONDS * 1_500);
const ENDS_WITHIN_MS = 10_000;
const tally = { registered: 0, ended: 0, passed: 0, skipped: 0, reasons: new Set<string>() };

/**
 * Declares and runs a suite: tests by their names. Each test opens and closes what it needs by itself. Nothing else
 * imports uvu: there, a suite that forgets to run, a hook that throws, or a test that throws what is no Error passes.
 */
export function suite(name: string, tests: Readonly<Record<string, () => unknown>>): void {
  const run = uvuSuite(name);
  for (const [title, test] of Object.entries(tests)) {
    tally.registered++;
    run(title, async () => {
      try {
        await inTime(test);
      } catch (error) {
        if (error instanceof MissingDependencyError && !process.env.CI) {
          tally.skipped++;
          tally.reasons.add(error.message);
          return;
        }
        throw error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
      } finally {
        tally.ended++;
        if (tally.ended === tally.registered) setTimeout(giveUp, ENDS_WITHIN_MS).unref();
      }
      tally.passed++;
    });
  }
  run.run();
}

/** What a test has left at work, such as a load that nobody ends where it fails, does not keep its file for ever. */
function giveUp(): void {
  process.stdout.write(`what its tests began still runs after ${ENDS_WITHIN_MS} ms\n`);
  process.exit(1);
}

process.on('exit', () => {
  const { registered, passed, skipped } = tally;
  const results: Results = { passed, failed: registered - passed - skipped, skipped, reasons: [...tally.reasons] };
  process.stdout.write(`\n${RESULTS}${JSON.stringify(results)}\n`);
  if (results.failed > 0 || registered === 0) process.exitCode = 1;
});

async function inTime(test: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${TEST_TIMEOUT_MS} ms`)), TEST_TIMEOUT_MS);
  });
  try {
    await Promise.race([test(), late]);
  } finally {
    clearTimeout(timer);
  }
}
