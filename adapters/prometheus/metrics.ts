import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { type RejectionReason, rejectionReasons } from '../http/observer.ts';
import { createProtectedServer, limitReadingTime } from '../http/protection/protection.ts';
import { MAX_CONNECTION_COUNT } from '../persistence/connection-limit.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from '../persistence/storage-engine.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
/** The upper bounds of the buckets of all histograms, in seconds. */
const BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const UNREAD = { reason: 'response_not_read' };

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

  private readonly requests = this.addHistogram(
    'http_request_duration_seconds',
    'Time from a request to its response, by route (the path of the operation or health probe, or unmatched), method and status.',
    ['route', 'method', 'status'],
  );

  private readonly cutConnections = this.addCounter(
    'http_connections_cut_total',
    'Connections closed before their clients had received all responses, by reason: response_not_read (the client did not read a response).',
    ['reason'],
  );

  private readonly rejectedRequests = this.addCounter(
    'http_requests_rejected_total',
    `Requests rejected because of overload, by reason: ${Object.entries(rejectionReasons)
      .map(([reason, meaning]) => `${reason} (${meaning})`)
      .join(', ')}.`,
    ['reason'],
  );

  private readonly countedRequests = this.addCounter(
    'rate_limit_requests_total',
    'Requests counted against a rate limit, by limit (requests: all requests of an API key, rejectedCredentials: requests of a client address with rejected credentials) and outcome (allowed, or rejected because the limit was exceeded).',
    ['limit', 'outcome'],
  );

  private readonly operations = this.addHistogram(
    'storage_operation_duration_seconds',
    'Time of a storage operation, by store (the kind of record), operation and outcome (done, rejected because of a rule such as a unique name, or failed).',
    ['store', 'operation', 'outcome'],
  );

  /** Each scrape reads the current states. If a state is not passed, its metrics are missing. */
  constructor(database?: DatabaseState, rateLimiter?: RateLimiterState) {
    collectDefaultMetrics({ register: this.registry });
    this.cutConnections.inc(UNREAD, 0);
    for (const reason of Object.keys(rejectionReasons)) this.rejectedRequests.inc({ reason }, 0);
    if (database) this.addDatabaseMetrics(database);
    if (rateLimiter) this.addRateLimiterMetrics(rateLimiter);
  }

  private addDatabaseMetrics(state: DatabaseState): void {
    this.addGauge(
      'storage_up',
      'Whether the database responds (1) or not (0). With MongoDB, the value is 0 from a failure until the next success, and after ten seconds of 0, requests fail immediately.',
      async () => Number(await state.isUp),
    );
    const { network } = state;
    if (!network) return;
    this.addCounter(
      'storage_retries_total',
      'Retries of database operations by the service. It retries an operation after the first attempt and the retry of the database driver have failed.',
      [],
      (counter) => counter.inc(network.retries),
    );
    this.addGauge(
      'storage_connections_in_use',
      `Database connections in use. The maximum is ${MAX_CONNECTION_COUNT} for each process and database server.`,
      () => network.connectionsInUse,
    );
    this.addGauge(
      'storage_connections_waited_for',
      'Operations that wait for a database connection.',
      () => network.waitingCommandCount,
    );
  }

  private addRateLimiterMetrics(state: RateLimiterState): void {
    this.addGauge(
      'rate_limit_shared',
      'Whether all processes share their rate limit counts (1), or each process counts separately (0).',
      () => Number(state.isUp),
    );
    this.addCounter(
      'rate_limit_fallbacks_total',
      'Requests that a process counted on its own because the shared count was unavailable, by limit: requests, rejectedCredentials, unknownLinks (requests for unknown short links, counted for each client address) or visits (clicks, counted for each visitor).',
      ['limit'],
      (counter) => {
        for (const [limit, count] of Object.entries(state.fallbacks)) counter.inc({ limit }, count);
      },
    );
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
    this.cutConnections.inc(UNREAD);
  }

  /** Records a request that was rejected because of overload. */
  onRejected(reason: RejectionReason): void {
    this.rejectedRequests.inc({ reason });
  }

  /**
   * Adds the metrics of short links. Returns the observer that records them. `state` has the number of clicks that are
   * counted but not stored yet, and `clickResults` are the values of the label `result`.
   */
  createLinkObserver(state: { readonly pendingClickCount: number }, clickResults: readonly string[]) {
    const requests = this.addHistogram(
      'link_request_duration_seconds',
      'Time from a request for a short link to its response, by outcome: destination, expired_url and not_found_url (redirects), gone, not_found, method_not_allowed, limited (too many unknown links), unavailable (the storage did not respond), and bad_request.',
      ['outcome'],
    );
    const clicks = this.addCounter(
      'link_clicks_total',
      'Redirects to a destination, by result: counted, or not counted because of: bot, prefetch, repeated (the same visitor within an hour), full (too many clicks wait to be counted or stored).',
      ['result'],
    );
    for (const result of clickResults) clicks.inc({ result }, 0);
    this.addGauge(
      'link_clicks_pending',
      'Clicks that are counted, but not stored yet. They are stored within two seconds while the storage is available.',
      () => state.pendingClickCount,
    );
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
        this.countedRequests.inc({ limit, outcome: usage.allowed ? 'allowed' : 'rejected' });
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
    const serve = async ({ method = '', url = '' }: IncomingMessage, response: ServerResponse) => {
      if (!['GET', 'HEAD'].includes(method) || url.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      try {
        const text = await this.registry.metrics();
        response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
      } catch (error) {
        response.writeHead(500).end((error as Error).message);
      }
      limitReadingTime(response);
    };
    const fail = (response: ServerResponse) => response.writeHead(400).end();
    return createProtectedServer(serve, fail, { bodyLimit: 0 }).server;
  }

  private addHistogram<L extends string>(name: string, help: string, labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: BUCKETS, registers: [this.registry] });
  }

  /** `addTo` adds the current values at each scrape. Without `addTo`, the caller increments the counter. */
  private addCounter<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    addTo?: (counter: Counter<L>) => void,
  ): Counter<L> {
    const collect = function (this: Counter<L>) {
      this.reset();
      addTo?.(this);
    };
    return new Counter({ name, help, labelNames, registers: [this.registry], ...(addTo && { collect }) });
  }

  /** `read` returns the current value at each scrape. */
  private addGauge(name: string, help: string, read: () => number | Promise<number>): void {
    const collect = async function (this: Gauge) {
      this.set(await read());
    };
    new Gauge({ name, help, registers: [this.registry], collect });
  }

  private wrapStore<T extends object>(store: string, target: T): T {
    return new Proxy(target, {
      get:
        (_, operation: string & keyof T) =>
        async (...args: unknown[]) => {
          const endTimer = this.operations.startTimer({ store, operation });
          try {
            const result = await (target[operation] as (...args: unknown[]) => unknown)(...args);
            endTimer({ outcome: 'done' });
            return result;
          } catch (error) {
            endTimer({ outcome: error instanceof CoreError ? 'rejected' : 'failed' });
            throw error;
          }
        },
    });
  }
}
