import { suite as uvuSuite } from 'uvu';
import { Missing } from './missing.ts';
import { RESULTS, type Results } from './results.ts';
import { SOAK_SECONDS, scale } from './scale.ts';

const TEST_TIMEOUT_MS = scale(60_000, 600_000 + SOAK_SECONDS * 1_500);
const tally = { registered: 0, passed: 0, skipped: 0, reasons: new Set<string>() };

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
        if (error instanceof Missing && !process.env.CI) {
          tally.skipped++;
          tally.reasons.add(error.message);
          return;
        }
        throw error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
      }
      tally.passed++;
    });
  }
  run.run();
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
