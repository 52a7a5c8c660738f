import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings, createWorkspace, withApplication } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { getRedis } from '../support/redis.ts';
import { fetchMetrics, scrape } from '../support/scrape.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const REQUEST_COUNT = 20;
/** Longer than a worker takes to start. */
const WORKER_START_DURATION_MS = 3_000;
const SECOND_SIGNAL_DELAY_MS = 500;
/** Shorter than the shutdown takes after a single signal if a worker is hung. */
const SECOND_SIGNAL_TIMEOUT_MS = 8_000;
/** The module that starts the service with a short timeout for the stop of its workers. */
const SHORT_TIMEOUT = join(import.meta.dirname, 'workers-with-short-timeout.js');

suite('a service with workers', {
  'serves with all workers on one port, replaces a killed worker, and shows the metrics of all workers': () =>
    withWorkers(async ({ settings, key }) => {
      await withProcess({ ...settings, METRICS_PORT: '0' }, async (service) => {
        await waitUntil(async () => (await findServingPids(service, key)).size === 2);
        const [killed, other] = [...(await findServingPids(service, key))] as [number, number];
        const before = await countRequests(service);
        await findServingPids(service, key);
        assert.equal((await countRequests(service)) - before, REQUEST_COUNT);
        // To collect these metrics, the primary process sends messages to the killed worker until it notices the exit.
        const scraping = Promise.all(Array.from({ length: 50 }, () => fetchMetrics(service)));
        process.kill(killed, 'SIGKILL');
        await scraping;
        await waitUntil(() => service.output.stderr.includes('worker exited'));
        await waitUntil(async () => {
          const pids = await findServingPids(service, key);
          return pids.size === 2 && pids.has(other) && !pids.has(killed);
        });
      });
    }),

  'still shows metrics if a worker hangs or exits, and no sum in them decreases': () =>
    withWorkers(async ({ settings, key }) => {
      await withProcess({ ...settings, METRICS_PORT: '0' }, async (service) => {
        await waitUntil(async () => (await findServingPids(service, key)).size === 2);
        const [frozen] = [...(await findServingPids(service, key))] as [number];
        const before = await countRequests(service);
        assert.ok(before >= 2 * REQUEST_COUNT);
        process.kill(frozen, 'SIGSTOP');
        assert.equal(await countRequests(service), before);
        process.kill(frozen, 'SIGKILL');
        await waitUntil(() => service.output.stderr.includes('worker exited'));
        const exitedAt = performance.now();
        while (performance.now() - exitedAt < WORKER_START_DURATION_MS)
          assert.equal(await countRequests(service), before);
        await findServingPids(service, key);
        assert.equal(await countRequests(service), before + REQUEST_COUNT);
      });
    }),

  'stops together with all its workers, whether it gets a signal or is killed': () =>
    withWorkers(async ({ settings, key }) => {
      const stops = (['SIGTERM', 'SIGINT', 'SIGKILL'] as const).map((signal) =>
        withProcess(settings, async (service) => {
          await waitUntil(async () => (await findServingPids(service, key)).size === 2);
          const pids = await findServingPids(service, key);
          service.child.kill(signal);
          assert.equal(await service.waitForExit(), signal === 'SIGKILL' ? null : 0, signal);
          await waitUntil(() => [...pids].every((pid) => !isRunning(pid)));
          const { stderr } = service.output;
          const countLines = (msg: string, pid: number | undefined) =>
            stderr.split('\n').filter((line) => line.includes(`"pid":${pid},`) && line.includes(`"msg":"${msg}"`))
              .length;
          assert.equal(countLines('server listening', service.child.pid), 1, stderr);
          for (const pid of pids) assert.equal(countLines('worker listening', pid), 1, stderr);
          if (signal === 'SIGKILL') return;
          for (const pid of [service.child.pid, ...pids]) {
            assert.equal(countLines('shutdown started', pid), 1, stderr);
            assert.equal(countLines('shutdown complete', pid), 1, stderr);
          }
        }),
      );
      await Promise.all(stops);
    }),

  'kills a hung worker during its shutdown, after a timeout or at a second signal': () =>
    withWorkers(async ({ settings, key }) => {
      const assertStops = async (service: ServiceProcess, stop: () => Promise<void>) => {
        const pids = await hangWorker(service, key);
        await stop();
        assert.equal(await service.waitForExit(), 0);
        assert.deepEqual(pids.filter(isRunning), []);
        assert.match(service.output.stderr, /did not stop in time, killing it/);
      };
      const withOneSignal = withProcess(
        settings,
        (service) => assertStops(service, async () => void service.child.kill('SIGTERM')),
        SHORT_TIMEOUT,
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

  'leaves no worker behind if the primary process is killed, not even a hung one that resumes later': () =>
    withWorkers(({ settings, key }) =>
      withProcess(settings, async (service) => {
        const [hung, other] = await hangWorker(service, key);
        service.child.kill('SIGKILL');
        await waitUntil(() => !isRunning(other as number));
        process.kill(hung as number, 'SIGCONT');
        await waitUntil(() => !isRunning(hung as number));
      }),
    ),

  'prints one line and exits if it cannot listen': () =>
    withWorkers(({ settings }) =>
      withProcess(settings, async ({ url }) => {
        const { port } = new URL(url);
        await assert.rejects(startProcess({ ...settings, PORT: port }), ({ message }: Error) => {
          const line = `PORT: cannot listen on 127.0.0.1:${port}, the port is in use, stop the other program or set another port\n`;
          assert.equal(message, `ended with exit code 1: ${line}`);
          return true;
        });
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

/** Sends some requests, each over a new connection. Returns the ids of the processes that served them. */
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

/** Suspends a worker, as if it were in an endless loop. Returns the process ids of all workers, the suspended one first. */
async function hangWorker(service: ServiceProcess, key: string): Promise<readonly number[]> {
  await waitUntil(async () => (await findServingPids(service, key)).size === 2);
  const pids = [...(await findServingPids(service, key))];
  process.kill(pids[0] as number, 'SIGSTOP');
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
