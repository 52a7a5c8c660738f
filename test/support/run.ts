import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { settings } from '../../bootstrap/settings.ts';
import { NO_DNS_SERVER } from './dns-server.ts';
import { RESULTS, type Results, type StartedTest } from './results.ts';
import { isLong, TEST_TIMEOUT_MS } from './scale.ts';
import { getSharedMongod, SHARED_MONGOD_REQUEST, stopSharedMongod } from './shared-mongod.ts';

/** A process that starts no test for this time is killed. A test that blocks its process cannot time out by itself. */
const START_TIMEOUT_MS = 3 * TEST_TIMEOUT_MS;
/** The interval at which a run reports its progress. */
const PROGRESS_INTERVAL_MS = Number(process.env.TEST_PROGRESS_INTERVAL_MS ?? 30_000);
/** The folders whose tests mostly wait, for servers, other processes or a disk. */
const WAITING_FOLDERS = /^(?:sqlite|mongodb|faults|contract|bootstrap|cli)\//;
/**
 * The folders with many files that hardly ever start processes. Such files share a process, because loading modules
 * takes long.
 */
const SHARING_FOLDERS = /^(?:api|core|docs|http|links|persistence)\//;
/** The files that measure time or memory at full length. A long run runs each of them alone. */
const MEASURING_FILES =
  /^(?:browser\/|cli\/large|persistence\/large|sqlite\/(?:checkpoint|writes)|faults\/(?:failover|frozen|links|overload|redis|slow-clients|soak|sqlite|timing))/;
/** The number of files that share a process. It is small, so that the processes of a run end at about the same time. */
const SHARING_FILE_COUNT = 8;
const SLOWEST_COUNT = 15;
const root = join(import.meta.dirname, '..');

/**
 * Runs the files of tests whose path contains one of the words. Files that end in `.long.test.ts` run only in a long
 * run.
 *
 * A quick run has two more simultaneous processes than there are processors, because some files mostly wait: those of
 * `WAITING_FOLDERS`, which are first, so that they start early. A long run has as many as there are processors, and
 * then runs `MEASURING_FILES`. Every half minute, progress is written to standard error. `--times` prints the files
 * that took longest.
 */
async function main(args: readonly string[]): Promise<void> {
  const words = args.filter((arg) => arg !== '--times');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && (isLong || !file.endsWith('.long.test.js')))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort((a, b) => Number(WAITING_FOLDERS.test(b)) - Number(WAITING_FOLDERS.test(a)) || b.localeCompare(a));
  const jobs = createJobs(files);
  const total = { passed: 0, failed: 0, skipped: 0 };
  const missing = new Set<string>();
  const times: [name: string, seconds: number][] = [];
  let endedCount = 0;
  const startedAt = performance.now();
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.error(`… ${endedCount} of ${files.length} files, ${seconds} s`);
  }, PROGRESS_INTERVAL_MS);
  const runJobs = async (takeJob: () => string[] | undefined) => {
    for (let job = takeJob(); job !== undefined; job = takeJob()) {
      const jobStartedAt = performance.now();
      const { passed, failed, skipped, reasons, output } = await runInProcess(job);
      times.push([job.join(' '), (performance.now() - jobStartedAt) / 1_000]);
      endedCount += job.length;
      total.passed += passed;
      total.failed += failed;
      total.skipped += skipped;
      for (const reason of reasons) missing.add(reason);
      if (failed > 0) console.log(`${job.join(' ')}\n${output}`);
    }
  };
  const runAll = async (remaining: string[][], processCount: number) => {
    // One of the simultaneous processes takes its files from the end, so that a processor is busy while the files at
    // the start wait for servers.
    const takeFirst = () => remaining.shift();
    const takeLast = () => remaining.pop();
    await Promise.all(Array.from({ length: processCount }, (_, i) => runJobs(i === 1 ? takeLast : takeFirst)));
  };
  const isMeasuring = (job: readonly string[]) => isLong && job.some((file) => MEASURING_FILES.test(file));
  await runAll(
    jobs.filter((job) => !isMeasuring(job)),
    availableParallelism() + (isLong ? 0 : 2),
  );
  await runAll(jobs.filter(isMeasuring), 1);
  clearInterval(progress);
  await stopSharedMongod();
  if (words.length < args.length) printSlowest(times);
  for (const reason of missing) console.log(`SKIPPED tests that need ${reason}`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
}

/** Groups files that share a process. The order of the groups is that of their first files. */
function createJobs(files: readonly string[]): string[][] {
  const jobs: string[][] = [];
  for (const file of files) {
    const last = jobs.at(-1) ?? [];
    const isSharing = last.length < SHARING_FILE_COUNT && [file, ...last].every((one) => SHARING_FOLDERS.test(one));
    if (isSharing && last.length > 0) last.push(file);
    else jobs.push([file]);
  }
  return jobs;
}

function printSlowest(times: readonly (readonly [name: string, seconds: number])[]): void {
  const slowest = times.toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_COUNT);
  for (const [name, seconds] of slowest) console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

interface Outcome extends Results {
  readonly output: string;
}

const NO_RESULTS: Results = { passed: 0, failed: 1, skipped: 0, reasons: [] };

/** Runs files in a process. Counts a failure if the process crashes, hangs or reports no results. */
function runInProcess(files: readonly string[]): Promise<Outcome> {
  const program = join(import.meta.dirname, 'run-files.js');
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...files.map((file) => join(root, file))], {
    env: createEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  let lastTest = `the code of ${files[0]} before its first test`;
  const timer = setTimeout(() => {
    output += `\n${lastTest} did not end within ${START_TIMEOUT_MS} ms\n`;
    child.kill('SIGKILL');
  }, START_TIMEOUT_MS);
  child.on('message', async (message: typeof SHARED_MONGOD_REQUEST | StartedTest) => {
    if (message !== SHARED_MONGOD_REQUEST) {
      lastTest = message.startedTest;
      timer.refresh();
      return;
    }
    const mongod = await getSharedMongod();
    if (child.connected) child.send(mongod);
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

/**
 * Returns the environment without settings of the service, except `REDIS_URL`, the Redis for tests, and with no name
 * server.
 */
function createEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => name === 'REDIS_URL' || !(name in settings));
  return { ...Object.fromEntries(kept), ...NO_DNS_SERVER };
}

await main(process.argv.slice(2));
