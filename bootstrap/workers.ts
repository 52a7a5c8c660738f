import cluster, { type Address, type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { listeningFields, standardErrorLog } from './log.ts';
import type { Settings } from './settings.ts';
import { listen, urlOf } from './start-server.ts';

/** A worker that ends sooner is not replaced at once, so that what keeps ending does not keep the machine busy. */
const MIN_WORKER_LIFETIME_MS = 1_000;
/** The longest time that a worker may take to stop. A worker that works stops within ten seconds. */
const STOP_TIMEOUT_MS = 11_000;
const KILL_TIMEOUT_MS = 1_000;

/** Where the workers listen, and where the metrics of all of them are, if anywhere. */
export interface ListeningAddresses {
  readonly url: string;
  readonly metricsUrl: string | undefined;
}

/**
 * Serves in as many processes as `WORKERS` says, on one port. Another takes the place of one that ends; told to stop, all
 * stop, and then this process. Workers that still run after `stopTimeoutMs`, or at a second signal, are killed.
 * Where the first cannot start, having said why, this process ends as it did.
 */
export async function startWorkers(
  settings: Settings,
  warnings: readonly string[],
  stopTimeoutMs = STOP_TIMEOUT_MS,
): Promise<ListeningAddresses> {
  const { HOST, LOG_LEVEL, WORKERS } = settings;
  const log = await standardErrorLog(LOG_LEVEL);
  for (const warning of warnings) log.warn(warning);
  let stopping = false;

  /** Keeps a place filled, beginning with a worker. */
  const keep = async (worker: Worker): Promise<void> => {
    for (let current = worker; ; current = cluster.fork()) {
      const startedAt = performance.now();
      const [code, signal] = await exitOf(current);
      if (stopping) return;
      log.warn({ worker: current.process.pid, code, signal }, 'a worker ended, another takes its place');
      await delay(startedAt + MIN_WORKER_LIFETIME_MS - performance.now());
      if (stopping) return;
    }
  };

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const isRepeated = stopping;
    stopping = true;
    const running = () =>
      Object.values(cluster.workers ?? {}).filter((worker) => worker && !worker.isDead()) as Worker[];
    const ended = Promise.all(running().map(exitOf));
    if (isRepeated) {
      log.warn({ signal }, 'shutdown aborted by a second signal');
    } else {
      log.info({ signal }, 'shutdown started');
      for (const worker of running()) worker.process.kill('SIGTERM');
      await Promise.race([ended, delay(stopTimeoutMs)]);
      if (running().length === 0) log.info('shutdown complete');
      else log.warn('shutdown timed out, the remaining workers are killed');
    }
    for (const worker of running()) {
      log.warn({ worker: worker.process.pid }, 'a worker did not stop in time and is killed');
      worker.process.kill('SIGKILL');
    }
    await Promise.race([ended, delay(KILL_TIMEOUT_MS)]);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

  // What is said to one that has just been killed is lost with it; unheard, the error would end this process.
  cluster.on('fork', (worker) =>
    worker.on('error', (err) => log.warn({ err, worker: worker.process.pid }, err.message)),
  );
  const metricsUrl = await listenForMetrics(settings);
  const first = cluster.fork();
  const port = await portOf(first);
  if (port === undefined) process.exit(stopping ? 0 : (first.process.exitCode ?? 1));
  if (stopping) return untilExit();
  const others = Array.from({ length: WORKERS - 1 }, () => cluster.fork());
  for (const worker of [first, ...others]) void keep(worker);
  await Promise.all(others.map(portOf));
  if (stopping) return untilExit();
  const serving = { url: urlOf(HOST, port), metricsUrl };
  log.info(listeningFields(settings, serving), 'server listening');
  return serving;
}

/** How a worker ended; what could not be said to it does not matter, as it would to `once` of node:events. */
function exitOf(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return new Promise((resolve) => worker.once('exit', (code, signal) => resolve([code, signal])));
}

/** The port that a worker listens at; `undefined` where it ends before. */
function portOf(worker: Worker): Promise<number | undefined> {
  return new Promise((resolve) => {
    worker.once('listening', ({ port }: Address) => resolve(port));
    worker.once('exit', () => resolve(undefined));
  });
}

/** Never resolves: the shutdown ends this process. */
function untilExit(): Promise<never> {
  return new Promise(() => undefined);
}

async function listenForMetrics({ METRICS_HOST, METRICS_PORT }: Settings): Promise<string | undefined> {
  if (METRICS_PORT === undefined) return undefined;
  const { workersMetricsServer } = await import('../adapters/prometheus/metrics.ts');
  return `${await listen(workersMetricsServer(), METRICS_HOST, METRICS_PORT)}/metrics`;
}
