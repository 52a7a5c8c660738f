import cluster from 'node:cluster';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Metrics } from '../adapters/prometheus/metrics.ts';
import type { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import { tokens, wireServer } from './container.ts';
import { createDemo, type Demo } from './demo.ts';
import { type Settings, SettingsError } from './settings.ts';
import { createNodeSystem } from './system.ts';

const SHUTDOWN_TIMEOUT_MS = 10_000;
/** The maximum time that a shutdown waits until `lastUsedAt` of the API keys is stored. */
const FLUSH_TIMEOUT_MS = 2_000;

/** An HTTP server that is listening. */
export interface RunningServer {
  /** The address, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The address of the metrics, if `METRICS_PORT` is set. */
  readonly metricsUrl: string | undefined;
  readonly app: Application;
  /** The demo workspace, if the storage is memory. */
  readonly demo: Demo | undefined;
  /**
   * Shuts down gracefully. From now on, the server is not ready, and closes each connection after its next response.
   * After `readinessDelayMs`, it accepts no more connections and drains the open ones. Resolves to `true` when all
   * connections are closed. Resolves to `false` if it reaches the shutdown timeout, which is ten seconds after the call.
   */
  stop(readinessDelayMs?: number): Promise<boolean>;
}

/**
 * Starts the HTTP server of this process, and the server of its metrics. Rejects with a `SettingsError` if one of them cannot
 * listen, or if the database is unsuitable.
 */
export async function startServer(
  settings: Settings,
  log: Logger,
  system: System = createNodeSystem(),
): Promise<RunningServer> {
  const container = await wireServer(settings, system, log);
  const app = container.get(tokens.app);
  const externalConnections = container.getAll(tokens.connection, { optional: true });
  const http = container.get(tokens.http);
  const metrics = settings.METRICS_PORT === undefined ? undefined : createMetricsServer(container.get(tokens.metrics));
  const closeAll = async () => {
    metrics?.closeAllConnections();
    await Promise.all([http.connections.close(), metrics && closeServer(metrics)]);
    await Promise.race([app.apiKeys.flush(), delay(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
    await Promise.all(externalConnections.map((connection) => connection.close()));
  };
  try {
    await Promise.all(externalConnections.map((connection) => connection.open()));
    const hasDemo = settings.STORAGE === 'memory';
    const demo = hasDemo ? await createDemo(app, system.now(), settings.DEMO_API_KEY) : undefined;
    const metricsUrl =
      metrics && (await listen(metrics, settings.METRICS_HOST, settings.METRICS_PORT as number, 'METRICS_'));
    return {
      url: await listen(http.server, settings.HOST, settings.PORT),
      metricsUrl: metricsUrl && `${metricsUrl}/metrics`,
      app,
      demo,
      async stop(readinessDelayMs = 0) {
        http.responder.isStopping = true;
        // The connections to a database that does not respond may not close in time.
        const isComplete = await Promise.race([
          delay(readinessDelayMs)
            .then(closeAll)
            .then(() => true),
          delay(SHUTDOWN_TIMEOUT_MS, false, { ref: false }),
        ]);
        http.connections.closeAll();
        return isComplete;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Returns the server of the metrics. A worker has no such server: the primary process serves the metrics of all workers. */
function createMetricsServer(metrics: Metrics): Server | undefined {
  if (cluster.isPrimary) return metrics.createServer();
  metrics.reportToPrimary();
  return undefined;
}

/**
 * The maximum number of connections that wait to be accepted. The operating system may lower this number (net.core.somaxconn). It
 * drops all further connections, and their clients retry after a second.
 */
const MAX_BACKLOG_COUNT = 4_096;

/**
 * Listens, and returns the URL. Rejects with a `SettingsError` if it cannot listen. `prefix` is the prefix of the settings that
 * have the host and the port.
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  prefix: '' | 'METRICS_' = '',
): Promise<string> {
  server.listen({ port, host, backlog: MAX_BACKLOG_COUNT });
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const [setting, problem] = listenProblems[code ?? ''] ?? ['HOST', `${code}`];
    throw new SettingsError([`${prefix}${setting}: cannot listen on ${host}:${port}, ${problem}`]);
  });
  return formatUrl(host, (server.address() as AddressInfo).port);
}

export function formatUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The setting to change, and the problem with its solution, for each error code of `listen`. */
const listenProblems: Readonly<Record<string, readonly [setting: 'HOST' | 'PORT', problem: string]>> = {
  EADDRINUSE: ['PORT', 'the port is in use, stop the other program or set another port'],
  EACCES: ['PORT', 'this user is not allowed to use the port, set a port of 1024 or more'],
  EADDRNOTAVAIL: ['HOST', 'the address does not belong to this machine, set another host'],
  EINVAL: ['HOST', 'the address is not valid for a server, set another host'],
  ENOTFOUND: ['HOST', 'the host name cannot be resolved, set another host'],
  EAI_AGAIN: ['HOST', 'the host name cannot be resolved, set another host'],
};

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
