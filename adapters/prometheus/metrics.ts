import type { Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from '../persistence/storage-engine.ts';
import { createMetricsServer } from './metrics-server.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
const REJECTION_REASONS = ['workspace', 'service', 'timeout'] as const;

/** The state of the connection to a database, as the metrics show it. */
export interface DatabaseState {
  /** Whether the database responds. It is a promise if the database must be read to find out. */
  readonly isUp: boolean | Promise<boolean>;
  /** The use of network connections. It is missing for a database in a file. */
  readonly network?: NetworkState;
}

/** The use of connections to a database over a network, as the metrics show it. */
export interface NetworkState {
  readonly retries: number;
  readonly connectionsInUse: number;
  readonly waitingCommandCount: number;
}

/** The state of rate limiters that processes share, as the metrics show it. */
export interface RateLimiterState {
  /** Whether the shared count is available. */
  readonly isUp: boolean;
  /** The number of requests that this process counted locally, by the name of the limit. */
  readonly fallbacks: Readonly<Record<string, number>>;
}

/** The metrics of this process, in the Prometheus text format. */
export class Metrics {
  private readonly registry = new Registry();

  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its response, by route (the path of the operation or health probe, or unmatched), method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  private readonly cutConnections = new Counter({
    name: 'http_connections_cut_total',
    help: 'Connections closed before their clients had received all responses, by reason: reply_not_read (the client did not read a response).',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  private readonly rejectedRequests = new Counter({
    name: 'http_requests_rejected_total',
    help: 'Requests rejected because of overload, by reason: workspace (one workspace sent too many), service (all workspaces together sent too many), timeout (the request was queued for too long).',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  private readonly countedRequests = new Counter({
    name: 'rate_limit_requests_total',
    help: 'Requests counted against a rate limit, by limit (requests: all requests of an API key, refusals: requests of a client address with rejected credentials) and outcome (allowed, or refused because the limit was exceeded).',
    labelNames: ['limit', 'outcome'],
    registers: [this.registry],
  });

  private readonly operations = new Histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Time of a storage operation, by kind of record, operation and outcome (done, refused because of a rule such as a unique name, or failed).',
    labelNames: ['kind', 'operation', 'outcome'],
    buckets: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  /** Each scrape reads the current states. If a state is not passed, its metrics are missing. */
  constructor(database?: DatabaseState, rateLimiter?: RateLimiterState) {
    collectDefaultMetrics({ register: this.registry });
    this.cutConnections.inc({ reason: 'reply_not_read' }, 0);
    for (const reason of REJECTION_REASONS) this.rejectedRequests.inc({ reason }, 0);
    if (database) this.addDatabaseMetrics(database);
    if (rateLimiter) this.addRateLimiterMetrics(rateLimiter);
  }

  private addDatabaseMetrics(state: DatabaseState): void {
    new Gauge({
      name: 'storage_up',
      help: 'Whether the database responds (1) or not (0). With MongoDB, the value is 0 from a failure until the next success, and after ten seconds of 0, requests fail immediately.',
      aggregator: 'min',
      registers: [this.registry],
      async collect() {
        this.set(Number(await state.isUp));
      },
    });
    if (state.network) this.addNetworkMetrics(state.network);
  }

  private addNetworkMetrics(state: NetworkState): void {
    const registers = [this.registry];
    new Counter({
      name: 'storage_retries_total',
      help: 'Retries of database operations by the service. It retries an operation after the first attempt and the retry of the database driver have failed.',
      registers,
      collect() {
        this.reset();
        this.inc(state.retries);
      },
    });
    new Gauge({
      name: 'storage_connections_in_use',
      help: 'Database connections in use. The maximum is 50 for each process and database server.',
      registers,
      collect() {
        this.set(state.connectionsInUse);
      },
    });
    new Gauge({
      name: 'storage_connections_waited_for',
      help: 'Operations that wait for a database connection.',
      registers,
      collect() {
        this.set(state.waitingCommandCount);
      },
    });
  }

  private addRateLimiterMetrics(state: RateLimiterState): void {
    const registers = [this.registry];
    new Gauge({
      name: 'rate_limit_shared',
      help: 'Whether all processes share their rate limit counts (1), or each process counts separately (0).',
      aggregator: 'min',
      registers,
      collect() {
        this.set(Number(state.isUp));
      },
    });
    new Counter({
      name: 'rate_limit_fallbacks_total',
      help: 'Requests that a process counted on its own because the shared count was unavailable, by limit: requests, refusals, unknownLinks (requests for unknown short links, counted for each client address) or visits (clicks, counted for each visitor).',
      labelNames: ['limit'],
      registers,
      collect() {
        this.reset();
        for (const [limit, count] of Object.entries(state.fallbacks)) this.inc({ limit }, count);
      },
    });
  }

  /** Records the response to a request. */
  onResponse(
    { route = 'unmatched', method }: { route?: string | undefined; method: string },
    status: number,
    milliseconds: number,
  ): void {
    this.requests.observe({ route, method: METHODS.has(method) ? method : 'other', status }, milliseconds / 1000);
  }

  /** Records a connection that was closed because its client did not read a response. */
  onUnreadResponse(): void {
    this.cutConnections.inc({ reason: 'reply_not_read' });
  }

  /** Records a request that was rejected because of overload. */
  onRejected(reason: (typeof REJECTION_REASONS)[number]): void {
    this.rejectedRequests.inc({ reason });
  }

  /**
   * Adds the metrics of short links. Returns the observer that records them. `state` has the number of clicks that are counted but not
   * stored yet, and `clickResults` are the values of the label `result`.
   */
  createLinkObserver(state: { readonly pendingClickCount: number }, clickResults: readonly string[]) {
    const registers = [this.registry];
    const requests = new Histogram({
      name: 'link_request_duration_seconds',
      help: 'Time from a request for a short link to its response, by outcome: destination, expired_url and not_found_url (redirects), gone, not_found, method_not_allowed, limited (too many unknown links), unavailable (the storage did not respond), and bad_request.',
      labelNames: ['outcome'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    });
    const clicks = new Counter({
      name: 'link_clicks_total',
      help: 'Redirects to a destination, by result: counted, or not counted because of: bot, prefetch, repeated (the same visitor within an hour), full (too many clicks wait to be counted or stored).',
      labelNames: ['result'],
      registers,
    });
    for (const result of clickResults) clicks.inc({ result }, 0);
    new Gauge({
      name: 'link_clicks_pending',
      help: 'Clicks that are counted, but not stored yet. They are stored within two seconds while the storage is available.',
      registers,
      collect() {
        this.set(state.pendingClickCount);
      },
    });
    return {
      onResponse: (outcome: string, milliseconds: number) => requests.observe({ outcome }, milliseconds / 1000),
      onClick: (result: string) => clicks.inc({ result }),
    };
  }

  /** Returns a rate limiter whose outcomes are counted in the metrics. */
  wrapRateLimiter(limit: string, limiter: RateLimiter): RateLimiter {
    return {
      consume: async (key) => {
        const usage = await limiter.consume(key);
        this.countedRequests.inc({ limit, outcome: usage.allowed ? 'allowed' : 'refused' });
        return usage;
      },
    };
  }

  /** Returns a storage engine that measures the time of its operations. */
  wrapStorageEngine(engine: StorageEngine): StorageEngine {
    const names = [...Object.keys(recordSchemas), ...globalStoreNames] as (keyof StorageEngine)[];
    return {
      ...engine,
      ...Object.fromEntries(names.map((name) => [name, this.wrapStore(name, engine[name])])),
      runInTransaction: (work) => engine.runInTransaction((transaction) => work(this.wrapStorageEngine(transaction))),
    };
  }

  /** Returns a server of `GET /metrics` (and `HEAD`), which is not listening yet. All other requests get 404. */
  createServer(): Server {
    return createMetricsServer(() => this.registry.metrics());
  }

  /** Sends the metrics of this worker to its primary process, now and on request (metrics-server.ts). */
  reportToPrimary(): void {
    const report = async () => {
      const snapshot = await this.registry.getMetricsAsJSON();
      if (process.connected) process.send?.({ snapshot });
    };
    process.on('message', report);
    void report();
  }

  private wrapStore<T extends object>(kind: string, store: T): T {
    return new Proxy(store, {
      get:
        (target, operation: string & keyof T) =>
        async (...args: unknown[]) => {
          const endTimer = this.operations.startTimer({ kind, operation });
          try {
            const result = await (target[operation] as (...args: unknown[]) => unknown)(...args);
            endTimer({ outcome: 'done' });
            return result;
          } catch (error) {
            endTimer({ outcome: error instanceof CoreError ? 'refused' : 'failed' });
            throw error;
          }
        },
    });
  }
}
