import cluster from 'node:cluster';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Metrics } from '../adapters/prometheus/metrics.ts';
import type { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import { tokens, wire } from './container.ts';
import { createDemo, type Demo } from './demo.ts';
import { type Settings, SettingsError } from './settings.ts';
import { nodeSystem } from './system.ts';

const SHUTDOWN_TIMEOUT_MS = 10_000;
/** The longest time that a shutdown waits for the last uses of keys to be stored. */
const FLUSH_TIMEOUT_MS = 2_000;

/** A service that listens. */
export interface RunningServer {
  /** Where, as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Where the metrics are, if anywhere. */
  readonly metricsUrl: string | undefined;
  readonly app: Application;
  /** The demo workspace, which memory storage starts with. */
  readonly demo: Demo | undefined;
  /**
   * Stops: says at once that it is not ready and ends each connection with its next reply, goes on serving for
   * `servingMs`, then takes no more connections and resolves when those that it has are done, ten seconds after the
   * call at the latest. Resolves to `false` if that timeout closed connections, or if a database is still open.
   */
  stop(servingMs?: number): Promise<boolean>;
}

/** Starts the service. Throws a `SettingsError` where it cannot listen, here or for its metrics, or use the database. */
export async function startServer(
  settings: Settings,
  log: Logger,
  system: System = nodeSystem(settings.DEMO_API_KEY),
): Promise<RunningServer> {
  const container = await wire(settings, system, log);
  const app = container.get(tokens.app);
  const connections = container.getAll(tokens.connection, { optional: true });
  const http = container.get(tokens.http);
  const metrics = settings.METRICS_PORT === undefined ? undefined : metricsServer(container.get(tokens.metrics));
  const end = async () => {
    metrics?.closeAllConnections();
    await Promise.all([http.connections.close(), metrics && close(metrics)]);
    await Promise.race([app.apiKeys.flush(), delay(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
    await Promise.all(connections.map((connection) => connection.close()));
  };
  try {
    await Promise.all(connections.map((connection) => connection.open()));
    const hasDemo = settings.STORAGE === 'memory';
    const demo = hasDemo ? await createDemo(app, system.now(), settings.DEMO_API_KEY) : undefined;
    const metricsUrl = metrics && (await listen(metrics, settings.METRICS_HOST, settings.METRICS_PORT as number));
    return {
      url: await listen(http.server, settings.HOST, settings.PORT),
      metricsUrl: metricsUrl && `${metricsUrl}/metrics`,
      app,
      demo,
      async stop(servingMs = 0) {
        http.responder.stopping = true;
        // A database that is frozen does not let go of its connections in time.
        const isComplete = await Promise.race([
          delay(servingMs)
            .then(end)
            .then(() => true),
          delay(SHUTDOWN_TIMEOUT_MS, false, { ref: false }),
        ]);
        http.connections.closeAll();
        return isComplete;
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** A worker tells its metrics to the process that started it, which shows those of all. */
function metricsServer(metrics: Metrics): Server | undefined {
  if (cluster.isPrimary) return metrics.server();
  metrics.answerPrimary();
  return undefined;
}

/**
 * So many connections may wait to be accepted, where the system allows as many (net.core.somaxconn): what is more is dropped,
 * and tried again by its client after a second.
 */
const LISTEN_BACKLOG = 4_096;

/** Listens, and tells where. Throws a `SettingsError` where that cannot be. */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  server.listen({ port, host, backlog: LISTEN_BACKLOG });
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw new SettingsError([`${host}:${port} cannot be listened at: ${reasons[code ?? ''] ?? code}`]);
  });
  return urlOf(host, (server.address() as AddressInfo).port);
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already, so stop that or set another port',
  EACCES: 'this user may not, so set a port of 1024 or more',
  EADDRNOTAVAIL: 'this machine has no such address, so set another host',
  EINVAL: 'that is no address to listen at, so set another host',
  ENOTFOUND: 'the name cannot be resolved, so set another host',
  EAI_AGAIN: 'the name cannot be resolved, so set another host',
};

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
