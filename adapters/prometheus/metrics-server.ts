import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { AggregatorRegistry, Registry } from 'prom-client';
import { doNothing } from '../../core/shared/do-nothing.ts';

type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

const WORKER_TIMEOUT_MS = 1_000;

/**
 * Returns a server like that of `Metrics.createServer`, but with the aggregated metrics of all workers of this process. If a
 * worker does not respond in time, its last snapshot is used. The sums of workers that have exited are kept, so that no sum ever
 * decreases.
 */
export function createWorkersMetricsServer(): Server {
  const snapshots = new Map<Worker, MetricsSnapshot>();
  let sumsOfExited: Promise<MetricsSnapshot> = Promise.resolve([]);
  // A message that arrives after the exit of its worker is ignored, because the sums of the worker may already be in `sumsOfExited`.
  cluster.on('message', (worker, { snapshot }) => worker.isDead() || snapshots.set(worker, snapshot));
  cluster.on('exit', (worker) => {
    const last = snapshots.get(worker)?.filter(isSummable) ?? [];
    snapshots.delete(worker);
    sumsOfExited = sumsOfExited.then((sums) => AggregatorRegistry.aggregate([sums, last]).getMetricsAsJSON());
  });
  return createMetricsServer(async () => {
    const signal = AbortSignal.timeout(WORKER_TIMEOUT_MS);
    const connected = [...snapshots.keys()].filter((worker) => worker.isConnected());
    await Promise.all(connected.map((worker) => requestSnapshot(worker, signal)));
    return AggregatorRegistry.aggregate([await sumsOfExited, ...snapshots.values()]).metrics();
  });
}

/**
 * Returns whether a metric only grows and is summed over workers. prom-client declares `type` as a number (`MetricType`), but in
 * a snapshot, `type` is the name of the type.
 */
function isSummable({ type }: { readonly type: unknown }): boolean {
  return type === 'counter' || type === 'histogram';
}

/**
 * Asks a worker for its metrics, which the listener above stores. Waits until they arrive, the request fails or the signal
 * aborts.
 */
async function requestSnapshot(worker: Worker, signal: AbortSignal): Promise<void> {
  const message = once(worker, 'message', { signal });
  worker.send('report metrics');
  // If the request fails or the worker does not respond in time, its last snapshot is used.
  await message.catch(doNothing);
}

/** Returns a server of `GET /metrics` (and `HEAD`), which is not listening yet. All other requests get 404. */
export function createMetricsServer(getMetrics: () => Promise<string>): Server {
  return createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    if (!['GET', 'HEAD'].includes(method) || url.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await getMetrics();
      response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
}
