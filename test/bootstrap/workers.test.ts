import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mongod } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { redis } from '../support/redis.ts';
import { askForMetrics, scrape } from '../support/scrape.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const REQUESTS = 20;
const STARTS_WITHIN_MS = 3_000;
const SIGNALS_APART_MS = 500;
/** Less than the time in which a single signal ends it. */
const SECOND_SIGNAL_ENDS_WITHIN_MS = 8_000;
/** Starts the service with workers for whom it waits for some seconds only. */
const IMPATIENT = join(import.meta.dirname, 'impatient-workers.js');

suite('a service with workers', {
  'serves with all of them on one port, replaces one that is killed, and shows the metrics of all': () =>
    withWorkers(async ({ settings, key }) => {
      await withProcess({ ...settings, METRICS_PORT: '0' }, async (service) => {
        await until(async () => (await serving(service, key)).size === 2);
        const [killed, kept] = [...(await serving(service, key))] as [number, number];
        const before = await requestsOf(service);
        await serving(service, key);
        assert.equal((await requestsOf(service)) - before, REQUESTS);
        // Something is said to it before its end is known.
        const asking = Promise.all(Array.from({ length: 50 }, () => askForMetrics(service)));
        process.kill(killed, 'SIGKILL');
        await asking;
        await until(() => service.printed.stderr.includes('a worker ended'));
        await until(async () => {
          const pids = await serving(service, key);
          return pids.size === 2 && pids.has(kept) && !pids.has(killed);
        });
      });
    }),

  'shows the metrics of those that tell them, and no sum that goes back when one does not or has ended': () =>
    withWorkers(async ({ settings, key }) => {
      await withProcess({ ...settings, METRICS_PORT: '0' }, async (service) => {
        await until(async () => (await serving(service, key)).size === 2);
        const [frozen] = [...(await serving(service, key))] as [number];
        const before = await requestsOf(service);
        assert.ok(before >= 2 * REQUESTS);
        process.kill(frozen, 'SIGSTOP');
        assert.equal(await requestsOf(service), before);
        process.kill(frozen, 'SIGKILL');
        await until(() => service.printed.stderr.includes('a worker ended'));
        const asked = performance.now();
        while (performance.now() - asked < STARTS_WITHIN_MS) assert.equal(await requestsOf(service), before);
        await serving(service, key);
        assert.equal(await requestsOf(service), before + REQUESTS);
      });
    }),

  'stops with all of them': () =>
    withWorkers(async ({ settings, key }) => {
      const ends = (['SIGTERM', 'SIGINT', 'SIGKILL'] as const).map((signal) =>
        withProcess(settings, async (service) => {
          await until(async () => (await serving(service, key)).size === 2);
          const pids = await serving(service, key);
          service.child.kill(signal);
          assert.equal(await service.ended(), signal === 'SIGKILL' ? null : 0, signal);
          await until(() => [...pids].every((pid) => !isRunning(pid)));
          const { stderr } = service.printed;
          const logged = (msg: string, pid: number | undefined) =>
            stderr.split('\n').filter((line) => line.includes(`"pid":${pid},`) && line.includes(`"msg":"${msg}"`))
              .length;
          assert.equal(logged('server listening', service.child.pid), 1, stderr);
          for (const pid of pids) assert.equal(logged('worker listening', pid), 1, stderr);
          if (signal === 'SIGKILL') return;
          for (const pid of [service.child.pid, ...pids]) {
            assert.equal(logged('shutdown started', pid), 1, stderr);
            assert.equal(logged('shutdown complete', pid), 1, stderr);
          }
        }),
      );
      await Promise.all(ends);
    }),

  'kills a hung worker at a shutdown, and does not end before it': () =>
    withWorkers(async ({ settings, key }) => {
      const stopped = async (service: ServiceProcess, stop: () => Promise<void>) => {
        const pids = await hungWorkers(service, key);
        await stop();
        assert.equal(await service.ended(), 0);
        assert.deepEqual(pids.filter(isRunning), []);
        assert.match(service.printed.stderr, /did not stop in time and is killed/);
      };
      const once = withProcess(
        settings,
        (service) => stopped(service, async () => void service.child.kill('SIGTERM')),
        IMPATIENT,
      );
      const twice = withProcess(settings, async (service) => {
        let start = 0;
        await stopped(service, async () => {
          start = performance.now();
          service.child.kill('SIGINT');
          await delay(SIGNALS_APART_MS);
          service.child.kill('SIGTERM');
        });
        assert.ok(performance.now() - start < SECOND_SIGNAL_ENDS_WITHIN_MS);
      });
      await Promise.all([once, twice]);
    }),

  'ends when its primary process ends in any way': () =>
    withWorkers(({ settings, key }) =>
      withProcess(settings, async (service) => {
        const [hung, other] = await hungWorkers(service, key);
        service.child.kill('SIGKILL');
        await until(() => !isRunning(other as number));
        process.kill(hung as number, 'SIGCONT');
        await until(() => !isRunning(hung as number));
      }),
    ),

  'ends with one line where it cannot listen': () =>
    withWorkers(({ settings }) =>
      withProcess(settings, async ({ url }) => {
        const { port } = new URL(url);
        await assert.rejects(startProcess({ ...settings, PORT: port }), ({ message }: Error) => {
          const line = `127.0.0.1:${port} cannot be listened at: something listens there already, so stop that or set another port\n`;
          assert.equal(message, `ended with exit code 1: ${line}`);
          return true;
        });
      }),
    ),
});

/** Gives a test the settings of a service with two workers, and a key to a workspace of its database. */
async function withWorkers(
  test: (service: { readonly settings: Readonly<Record<string, string>>; readonly key: string }) => Promise<void>,
): Promise<void> {
  const [database, counter] = await Promise.all([mongod(), redis()]);
  try {
    const { key } = await withUseCases(database.uri, newWorkspace);
    const shared = { RATE_LIMITER: 'redis', REDIS_URL: counter.url };
    await test({ settings: { ...onMongodb(database.uri), ...shared, WORKERS: '2' }, key });
  } finally {
    await Promise.all([database.stop(), counter.stop()]);
  }
}

/** Sends some requests, each over a connection of its own, all of which are served; the processes that logged them. */
async function serving({ url, printed }: ServiceProcess, key: string): Promise<ReadonlySet<number>> {
  const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
  const ids = new Set<string>();
  for (let i = 0; i < REQUESTS; i++) {
    const reply = await fetch(`${url}/campaigns`, { headers });
    assert.equal(reply.status, 200);
    ids.add(reply.headers.get('x-request-id') as string);
  }
  const pids = () =>
    printed.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line))
      .filter(({ requestId }) => ids.has(requestId))
      .map(({ pid }) => pid);
  await until(() => pids().length === REQUESTS);
  return new Set(pids());
}

/** Hangs one of the workers, as if it were in an endless loop; the process ids of all of them, that one first. */
async function hungWorkers(service: ServiceProcess, key: string): Promise<readonly number[]> {
  await until(async () => (await serving(service, key)).size === 2);
  const pids = [...(await serving(service, key))];
  process.kill(pids[0] as number, 'SIGSTOP');
  return pids;
}

async function requestsOf(service: ServiceProcess): Promise<number> {
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
