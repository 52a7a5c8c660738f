import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { getRedis } from '../support/redis.ts';
import { fetchMetrics, scrape } from '../support/scrape.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const REQUEST_COUNT = 20;
/** Longer than a worker takes to start. */
const WORKER_START_DURATION_MS = 3_000;
const SECOND_SIGNAL_DELAY_MS = 500;
/** Shorter than the shutdown takes after a single signal if a worker is hung. */
const SECOND_SIGNAL_TIMEOUT_MS = 8_000;
/** The path of a module that starts the service, and gives its workers little time to stop. */
const SHORT_TIMEOUT_MODULE = join(import.meta.dirname, 'workers-with-short-timeout.js');

suite('a service with workers', {
  'serves with all workers on one port, replaces a worker that exits, and has metrics that never decrease': () =>
    withWorkers(async ({ settings, key }) => {
      await withProcess({ ...settings, METRICS_PORT: '0' }, async (service) => {
        const [lost, other] = await waitForWorkers(service, key);
        const before = await countRequests(service);
        await findServingPids(service, key);
        const count = before + REQUEST_COUNT;
        assert.equal(await countRequests(service), count);
        process.kill(lost, 'SIGSTOP');
        assert.equal(await countRequests(service), count);
        // To collect these metrics, the primary process sends messages to the killed worker until the exit is noticed.
        const scraping = Promise.all(Array.from({ length: 50 }, () => fetchMetrics(service)));
        process.kill(lost, 'SIGKILL');
        await scraping;
        await waitUntil(() => service.output.stderr.includes('worker exited'));
        const exitedAt = performance.now();
        while (performance.now() - exitedAt < WORKER_START_DURATION_MS)
          assert.equal(await countRequests(service), count);
        const [one, another] = await waitForWorkers(service, key);
        assert.equal([one, another].includes(other), true);
        assert.equal([one, another].includes(lost), false);
        assert.ok((await countRequests(service)) > count);
      });
    }),

  'stops together with all its workers when it gets a signal': () =>
    withWorkers(({ settings, key }) =>
      withProcess(settings, async (service) => {
        const pids = await waitForWorkers(service, key);
        service.child.kill('SIGTERM');
        assert.equal(await service.waitForExit(), 0);
        await waitUntil(() => !pids.some(isRunning));
        const { stderr } = service.output;
        const countLines = (msg: string, pid: number | undefined) =>
          stderr.split('\n').filter((line) => line.includes(`"pid":${pid},`) && line.includes(`"msg":"${msg}"`)).length;
        assert.equal(countLines('server listening', service.child.pid), 1, stderr);
        for (const pid of pids) assert.equal(countLines('worker listening', pid), 1, stderr);
        for (const pid of [service.child.pid, ...pids]) {
          assert.equal(countLines('shutdown started', pid), 1, stderr);
          assert.equal(countLines('shutdown complete', pid), 1, stderr);
        }
      }),
    ),

  'kills a worker that hangs during the shutdown, after a timeout or at a second signal': () =>
    withWorkers(async ({ settings, key }) => {
      const assertStops = async (service: ServiceProcess, stop: () => Promise<void>) => {
        const pids = await hangWorker(service, key);
        await stop();
        assert.equal(await service.waitForExit(), 0);
        assert.deepEqual(pids.filter(isRunning), []);
        assert.match(service.output.stderr, /killing a worker that has not stopped/);
      };
      const withOneSignal = withProcess(
        settings,
        (service) => assertStops(service, async () => void service.child.kill('SIGTERM')),
        SHORT_TIMEOUT_MODULE,
      );
      const withTwoSignals = withProcess(settings, async (service) => {
        let start = 0;
        await assertStops(service, async () => {
          start = performance.now();
          service.child.kill('SIGINT');
          await delay(SECOND_SIGNAL_DELAY_MS);
          service.child.kill('SIGTERM');
        });
        assert.ok(performance.now() - start < SECOND_SIGNAL_TIMEOUT_MS);
      });
      await Promise.all([withOneSignal, withTwoSignals]);
    }),

  'prints one line if the port is in use, and leaves no worker behind if its primary process is killed': () =>
    withWorkers(({ settings, key }) =>
      withProcess(settings, async (service) => {
        const { port } = new URL(service.url);
        const line = `PORT: cannot listen on 127.0.0.1:${port}, the port is in use, stop the other program or set another port\n`;
        await assert.rejects(startProcess({ ...settings, PORT: port }), {
          message: `ended with exit code 1: ${line}`,
        });
        const [hung, other] = await hangWorker(service, key);
        service.child.kill('SIGKILL');
        await waitUntil(() => !isRunning(other));
        process.kill(hung, 'SIGCONT');
        await waitUntil(() => !isRunning(hung));
      }),
    ),
});

/** Calls a test with the settings of a service with two workers, and the key of a workspace in its database. */
async function withWorkers(
  test: (service: { readonly settings: Readonly<Record<string, string>>; readonly key: string }) => Promise<void>,
): Promise<void> {
  const [database, redis] = await Promise.all([createDatabase(), getRedis()]);
  try {
    const { key } = await withApplication(database.uri, createWorkspace);
    const shared = { RATE_LIMITER: 'redis', REDIS_URL: redis.url };
    await test({ settings: { ...createMongodbSettings(database.uri), ...shared, WORKERS: '2' }, key });
  } finally {
    await Promise.all([database.stop(), redis.stop()]);
  }
}

/** Sends some requests, each over a new connection. Returns the IDs of the processes that served them. */
async function findServingPids({ url, output }: ServiceProcess, key: string): Promise<ReadonlySet<number>> {
  const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
  const ids = new Set<string>();
  for (let i = 0; i < REQUEST_COUNT; i++) {
    const response = await fetch(`${url}/campaigns`, { headers });
    assert.equal(response.status, 200);
    ids.add(response.headers.get('x-request-id') as string);
  }
  const getPids = () =>
    output.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line))
      .filter(({ requestId }) => ids.has(requestId))
      .map(({ pid }) => pid);
  await waitUntil(() => getPids().length === REQUEST_COUNT);
  return new Set(getPids());
}

/** Waits until both workers serve requests. Returns their process IDs. */
async function waitForWorkers(service: ServiceProcess, key: string): Promise<[number, number]> {
  let pids: ReadonlySet<number> = new Set();
  await waitUntil(async () => {
    pids = await findServingPids(service, key);
    return pids.size === 2;
  });
  return [...pids] as [number, number];
}

/** Suspends a worker, as if it were in an endless loop. Returns the process IDs of both workers, the suspended one first. */
async function hangWorker(service: ServiceProcess, key: string): Promise<[number, number]> {
  const pids = await waitForWorkers(service, key);
  process.kill(pids[0], 'SIGSTOP');
  return pids;
}

async function countRequests(service: ServiceProcess): Promise<number> {
  const counts = [...(await scrape(service))].filter(([name]) =>
    name.startsWith('http_request_duration_seconds_count'),
  );
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
