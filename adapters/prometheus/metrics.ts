import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { globalStoreNames, recordSchemas, type Storage } from '../../core/storage.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
const CUTS = ['reply_not_read', 'too_many_pipelined'] as const;
const REJECTIONS = ['workspace', 'service', 'timeout'] as const;

/** What a connection to a database knows of itself. */
export interface DatabaseState {
  readonly isUp: boolean;
  readonly retries: number;
  readonly connectionsInUse: number;
  readonly waitingForConnection: number;
}

/** What a count that processes share knows of itself. */
export interface RateLimiterState {
  readonly isUp: boolean;
  /** By the name of the limit. */
  readonly fallbacks: Readonly<Record<string, number>>;
}

/** What this process measures of itself, in the Prometheus text format. */
export class Metrics {
  private readonly registry = new Registry();

  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its reply, by the path of the operation (unmatched: there is none), method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  private readonly cuts = new Counter({
    name: 'http_connections_cut_total',
    help: 'Connections that were cut although they waited for replies, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  private readonly rejections = new Counter({
    name: 'http_requests_rejected_total',
    help: 'Requests rejected because of overload, by reason: workspace (it sent too many), service (all workspaces did), timeout (of the wait).',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  private readonly limited = new Counter({
    name: 'rate_limit_requests_total',
    help: 'What was counted against a limit (requests: of a key; refusals: of an address), by whether it was allowed.',
    labelNames: ['limit', 'outcome'],
    registers: [this.registry],
  });

  private readonly operations = new Histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Time of an operation of the storage, by the kind of record, operation and outcome.',
    labelNames: ['kind', 'operation', 'outcome'],
    buckets: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const reason of CUTS) this.cuts.inc({ reason }, 0);
    for (const reason of REJECTIONS) this.rejections.inc({ reason }, 0);
  }

  /** Shows how a database is, as it is whenever somebody looks. */
  database(state: DatabaseState): void {
    const registers = [this.registry];
    new Gauge({
      name: 'storage_up',
      help: 'Whether the database answers: 0 from its first failure until it answers again; after ten seconds of that requests fail at once.',
      aggregator: 'min',
      registers,
      collect() {
        this.set(Number(state.isUp));
      },
    });
    new Counter({
      name: 'storage_retries_total',
      help: 'What was done again because the database had failed, and the first retry of its driver had too.',
      registers,
      collect() {
        this.reset();
        this.inc(state.retries);
      },
    });
    new Gauge({
      name: 'storage_connections_in_use',
      help: 'Connections to the database that do something, of 50 to each of its servers.',
      registers,
      collect() {
        this.set(state.connectionsInUse);
      },
    });
    new Gauge({
      name: 'storage_connections_waited_for',
      help: 'What waits for a connection to the database.',
      registers,
      collect() {
        this.set(state.waitingForConnection);
      },
    });
  }

  /** Shows how the count is that processes share, as it is whenever somebody looks. */
  sharedCount(state: RateLimiterState): void {
    const registers = [this.registry];
    new Gauge({
      name: 'rate_limit_shared',
      help: 'Whether all processes count requests together: 0 while each counts by itself.',
      aggregator: 'min',
      registers,
      collect() {
        this.set(Number(state.isUp));
      },
    });
    new Counter({
      name: 'rate_limit_fallbacks_total',
      help: 'What this process counted by itself because the shared count was away, by limit.',
      labelNames: ['limit'],
      registers,
      collect() {
        this.reset();
        for (const [limit, count] of Object.entries(state.fallbacks)) this.inc({ limit }, count);
      },
    });
  }

  /** Observes a reply. */
  onResponse(
    { route = 'unmatched', method }: { route?: string | undefined; method: string },
    status: number,
    milliseconds: number,
  ): void {
    this.requests.observe({ route, method: METHODS.has(method) ? method : 'other', status }, milliseconds / 1000);
  }

  /** Observes a connection that was cut. */
  onConnectionClosed(reason: (typeof CUTS)[number]): void {
    this.cuts.inc({ reason });
  }

  /** Observes a request that was rejected because of overload. */
  onRejected(reason: (typeof REJECTIONS)[number]): void {
    this.rejections.inc({ reason });
  }

  /** The same limiter, counted. */
  limiter(limit: string, limiter: RateLimiter): RateLimiter {
    return {
      consume: async (key) => {
        const usage = await limiter.consume(key);
        this.limited.inc({ limit, outcome: usage.allowed ? 'allowed' : 'refused' });
        return usage;
      },
    };
  }

  /** The same storage, timed. */
  storage(storage: Storage): Storage {
    const names = [...Object.keys(recordSchemas), ...globalStoreNames] as (keyof Storage)[];
    return {
      ...storage,
      ...Object.fromEntries(names.map((name) => [name, this.timed(name, storage[name])])),
      runInTransaction: (work) => storage.runInTransaction((staged) => work(this.storage(staged))),
    };
  }

  /** A server of `GET /metrics`, not yet listening; whatever else it is asked, it has not. */
  server(): Server {
    return metricsServer(() => this.registry.metrics());
  }

  /** Tells the process that started this worker what is measured here, now and whenever it asks (`workersMetricsServer`). */
  answerPrimary(): void {
    const tell = async () => {
      const measured = await this.registry.getMetricsAsJSON();
      if (process.connected) process.send?.({ measured });
    };
    process.on('message', tell);
    void tell();
  }

  private timed<T extends object>(kind: string, port: T): T {
    return new Proxy(port, {
      get:
        (target, operation: string & keyof T) =>
        async (...args: unknown[]) => {
          const end = this.operations.startTimer({ kind, operation });
          try {
            const result = await (target[operation] as (...args: unknown[]) => unknown)(...args);
            end({ outcome: 'done' });
            return result;
          } catch (error) {
            end({ outcome: error instanceof CoreError ? 'refused' : 'failed' });
            throw error;
          }
        },
    });
  }
}

type Measured = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

const WORKER_TIMEOUT_MS = 1_000;

/**
 * As `Metrics.server`, with the metrics of all workers of this process together. One that does not tell its own in time
 * counts with those that it told before, and the counts of one that has ended stay, so that no sum goes back.
 */
export function workersMetricsServer(): Server {
  const told = new Map<Worker, Measured>();
  let ofEnded: Promise<Measured> = Promise.resolve([]);
  // What one said last may come after its end.
  cluster.on('message', (worker, { measured }) => worker.isDead() || told.set(worker, measured));
  cluster.on('exit', (worker) => {
    const last = told.get(worker)?.filter(isSum) ?? [];
    told.delete(worker);
    ofEnded = ofEnded.then((before) => AggregatorRegistry.aggregate([before, last]).getMetricsAsJSON());
  });
  return metricsServer(async () => {
    const signal = AbortSignal.timeout(WORKER_TIMEOUT_MS);
    const asked = [...told.keys()].filter((worker) => worker.isConnected());
    await Promise.all(asked.map((worker) => answerOf(worker, signal)));
    return AggregatorRegistry.aggregate([await ofEnded, ...told.values()]).metrics();
  });
}

/** Whether it only grows, and is the sum of all workers' own. (Here these are texts, whatever the types say.) */
function isSum({ type }: { readonly type: unknown }): boolean {
  return type === 'counter' || type === 'histogram';
}

async function answerOf(worker: Worker, signal: AbortSignal): Promise<void> {
  const answer = once(worker, 'message', { signal });
  worker.send('measured?');
  await answer.catch(() => 'it has ended, or does not answer in time');
}

function metricsServer(metrics: () => Promise<string>): Server {
  return createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    if (!['GET', 'HEAD'].includes(method) || url.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await metrics();
      response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
}
