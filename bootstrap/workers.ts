import cluster, { type Address, type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandardErrorLog } from '../adapters/logging/standard-error-log.ts';
import { formatUrl, getHost, getListeningFields, type ListeningAddresses, listen } from './listen.ts';
import type { Settings } from './settings.ts';
import { WORKER_KILL_TIMEOUT_MS, WORKER_STOP_TIMEOUT_MS } from './shutdown.ts';

/** If a worker exits sooner, its replacement is delayed, so that workers that exit at once do not keep the machine busy. */
const MIN_WORKER_LIFETIME_MS = 1_000;

/**
 * Starts as many workers as `WORKERS` says, which share the ports of the server, and replaces each worker that exits. On SIGTERM or SIGINT,
 * stops all workers and exits. Kills workers that still run after `stopTimeoutMs` or at a second signal. If the first worker cannot start,
 * the worker prints the reason, and this process exits with the exit code of the worker.
 */
export async function startWorkers(
  settings: Settings,
  warnings: readonly string[],
  stopTimeoutMs = WORKER_STOP_TIMEOUT_MS,
): Promise<ListeningAddresses> {
  const { LOG_LEVEL, LINKS_PORT, WORKERS } = settings;
  const serverCount = LINKS_PORT === undefined ? 1 : 2;
  const log = await createStandardErrorLog(LOG_LEVEL);
  for (const warning of warnings) log.warn(warning);
  let isStopping = false;

  /** Replaces a worker when it exits, then its replacement, and so on. */
  const superviseWorker = async (worker: Worker): Promise<void> => {
    for (let current = worker; ; current = cluster.fork()) {
      const startedAt = performance.now();
      const [code, signal] = await waitForExit(current);
      if (isStopping) return;
      log.warn({ worker: current.process.pid, code, signal }, 'worker exited, starting a replacement');
      await delay(startedAt + MIN_WORKER_LIFETIME_MS - performance.now());
      if (isStopping) return;
    }
  };

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const isRepeated = isStopping;
    isStopping = true;
    const getRunning = () =>
      Object.values(cluster.workers ?? {}).filter((worker) => worker && !worker.isDead()) as Worker[];
    const exits = Promise.all(getRunning().map(waitForExit));
    if (isRepeated) {
      log.warn({ signal }, 'second signal, exiting at once');
    } else {
      log.info({ signal }, 'shutdown started');
      for (const worker of getRunning()) worker.process.kill('SIGTERM');
      await Promise.race([exits, delay(stopTimeoutMs)]);
      if (getRunning().length === 0) log.info('shutdown complete');
      else log.warn('shutdown timed out, killing the remaining workers');
    }
    for (const worker of getRunning()) {
      log.warn({ worker: worker.process.pid }, 'killing a worker that has not stopped');
      worker.process.kill('SIGKILL');
    }
    await Promise.race([exits, delay(WORKER_KILL_TIMEOUT_MS)]);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

  // A message to a worker that was just killed fails. Without a listener, that error would end this process.
  cluster.on('fork', (worker) =>
    worker.on('error', (err) => log.warn({ err, worker: worker.process.pid }, err.message)),
  );
  const metricsUrl = await serveMetrics(settings);
  const first = cluster.fork();
  const ports = await waitForPorts(first, serverCount);
  if (!ports) process.exit(isStopping ? 0 : (first.process.exitCode ?? 1));
  if (isStopping) return waitForever();
  const others = Array.from({ length: WORKERS - 1 }, () => cluster.fork());
  for (const worker of [first, ...others]) void superviseWorker(worker);
  await Promise.all(others.map((worker) => waitForPorts(worker, serverCount)));
  if (isStopping) return waitForever();
  // A worker listens for short links first, so `ports` is `[linksPort, port]`, or `[port]` if short links are off.
  const [port, linksPort] = ports.toReversed() as [number, number | undefined];
  const addresses = {
    url: formatUrl(getHost(settings, ''), port),
    linksUrl: linksPort === undefined ? undefined : formatUrl(getHost(settings, 'LINKS_'), linksPort),
    metricsUrl,
  };
  log.info(getListeningFields(settings, addresses), 'server listening');
  return addresses;
}

/** Resolves when a worker exits. `once` of node:events would also reject if a message to the worker fails. */
function waitForExit(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return new Promise((resolve) => worker.once('exit', (code, signal) => resolve([code, signal])));
}

/** Resolves with the first `count` ports that a worker listens on, or with `undefined` if the worker exits before that. */
function waitForPorts(worker: Worker, count: number): Promise<number[] | undefined> {
  return new Promise((resolve) => {
    const ports: number[] = [];
    worker.on('listening', ({ port }: Address) => {
      if (ports.push(port) === count) resolve(ports);
    });
    worker.once('exit', () => resolve(undefined));
  });
}

/** Never resolves, because the shutdown ends this process. */
function waitForever(): Promise<never> {
  return new Promise(() => undefined);
}

async function serveMetrics(settings: Settings): Promise<string | undefined> {
  if (settings.METRICS_PORT === undefined) return undefined;
  const { createWorkersMetricsServer } = await import('../adapters/prometheus/metrics-server.ts');
  return `${await listen(createWorkersMetricsServer(), settings, 'METRICS_')}/metrics`;
}
