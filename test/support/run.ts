import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { settings } from '../../bootstrap/settings.ts';
import { RESULTS, type Results, type StartedTest } from './results.ts';
import { isLong, quickOrLong, TEST_TIMEOUT_MS } from './scale.ts';
import { getSharedMongod, SHARED_MONGOD_REQUEST, stopSharedMongod } from './shared-mongod.ts';

/** The time without the start of a test after which a file is killed. A test that blocks its process cannot time out by itself. */
const FILE_TIMEOUT_MS = 3 * TEST_TIMEOUT_MS;
/** The interval at which a run reports its progress. */
const PROGRESS_INTERVAL_MS = Number(process.env.TEST_PROGRESS_INTERVAL_MS ?? 30_000);
/** The folders whose tests mostly wait for servers. */
const WAITING_FOLDERS = /^(?:faults|mongodb|contract|bootstrap)\//;
const SLOWEST_FILE_COUNT = 15;
const root = join(import.meta.dirname, '..');

/**
 * Runs each file of tests whose path contains one of the words, in a separate process. Files that end in `.long.test.ts` run only
 * in a long run. A long run executes one file after another, because some files measure time. A quick run executes two more files
 * at the same time than there are processors, because some files wait for servers. The files that wait for servers are first.
 * Every half minute, progress is written to standard error. The option `--times` prints the files that took longest.
 */
async function main(args: readonly string[]): Promise<void> {
  const words = args.filter((arg) => arg !== '--times');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && (isLong || !file.endsWith('.long.test.js')))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort((a, b) => Number(WAITING_FOLDERS.test(b)) - Number(WAITING_FOLDERS.test(a)) || a.localeCompare(b));
  const total = { passed: 0, failed: 0, skipped: 0 };
  const missing = new Set<string>();
  const times: [file: string, seconds: number][] = [];
  const fileCount = files.length;
  const startedAt = performance.now();
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.error(`… ${times.length} of ${fileCount} files, ${seconds} s`);
  }, PROGRESS_INTERVAL_MS);
  const runFiles = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const fileStartedAt = performance.now();
      const { passed, failed, skipped, reasons, output } = await runFile(file);
      times.push([file, (performance.now() - fileStartedAt) / 1_000]);
      total.passed += passed;
      total.failed += failed;
      total.skipped += skipped;
      for (const reason of reasons) missing.add(reason);
      if (failed > 0) console.log(`${file}\n${output}`);
    }
  };
  await Promise.all(Array.from({ length: quickOrLong(availableParallelism() + 2, 1) }, runFiles));
  clearInterval(progress);
  await stopSharedMongod();
  if (words.length < args.length) printSlowest(times);
  for (const reason of missing) console.log(`SKIPPED tests that need ${reason}`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
}

function printSlowest(times: readonly (readonly [file: string, seconds: number])[]): void {
  const slowest = times.toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_FILE_COUNT);
  for (const [file, seconds] of slowest) console.log(`${seconds.toFixed(1).padStart(6)} s  ${file}`);
}

interface Outcome extends Results {
  readonly output: string;
}

const NO_RESULTS: Results = { passed: 0, failed: 0, skipped: 0, reasons: [] };

/** Runs a file. If it crashes, hangs or reports no results, that counts as a failure. */
function runFile(file: string): Promise<Outcome> {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, file)], {
    env: createEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  let lastTest = 'the code before the first test';
  const timer = setTimeout(() => {
    output += `\n${lastTest} did not end within ${FILE_TIMEOUT_MS} ms\n`;
    child.kill('SIGKILL');
  }, FILE_TIMEOUT_MS);
  child.on('message', async (message: typeof SHARED_MONGOD_REQUEST | StartedTest) => {
    if (message !== SHARED_MONGOD_REQUEST) {
      lastTest = message.startedTest;
      timer.refresh();
      return;
    }
    const answer = await getSharedMongod();
    if (child.connected) child.send(answer);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      const line = output.split('\n').findLast((text) => text.startsWith(RESULTS));
      const results: Results = line ? JSON.parse(line.slice(RESULTS.length)) : NO_RESULTS;
      const failed = results.failed === 0 && code !== 0 ? 1 : results.failed;
      resolve({ ...results, failed, output });
    });
  });
}

/** Returns the environment without settings of the service, except `REDIS_URL`, the Redis for tests. */
function createEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name === 'REDIS_URL' || !(name in settings)),
  );
}

await main(process.argv.slice(2));
