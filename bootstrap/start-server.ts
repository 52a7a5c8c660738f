import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createNodeSystem } from '../adapters/node/system.ts';
import type { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import { tokens, wireServer } from './container.ts';
import { checkAddress, type ListeningAddresses, listen } from './listen.ts';
import { type PreparedDemo, prepareDemo } from './prepare-demo.ts';
import type { Settings } from './settings.ts';
import { storages } from './storages.ts';

/** The time after the signal at which the server closes the connections that are still open. */
const SHUTDOWN_TIMEOUT_MS = 10_000;
/** The maximum time, within `SHUTDOWN_TIMEOUT_MS`, to wait until `lastUsedAt` of the API keys is stored. */
const FLUSH_TIMEOUT_MS = 2_000;

/** An HTTP server that is listening. */
export interface RunningServer extends ListeningAddresses, PreparedDemo {
  readonly app: Application;
  /**
   * Shuts down gracefully. From the call on, the server is not ready, and closes each connection after its next
   * response. After `readinessDelayMs`, the server accepts no more connections and drains the open ones. Resolves to
   * `true` when all connections, also those to the storage, are closed. Resolves to `false` at the shutdown timeout,
   * which is ten seconds after the call.
   */
  stop(readinessDelayMs?: number): Promise<boolean>;
}

/**
 * Starts the HTTP server of this process, and the servers of its metrics and of short links. Rejects with a
 * `UsageError` if one of them cannot listen, or if the database cannot be used.
 */
export async function startServer(
  settings: Settings,
  log: Logger,
  system: System = createNodeSystem(),
): Promise<RunningServer> {
  const container = await wireServer(settings, system, log);
  const app = container.get(tokens.app);
  const http = container.get(tokens.http);
  const metrics = settings.METRICS_PORT === undefined ? undefined : container.get(tokens.metrics).createServer();
  const links = settings.LINKS_PORT === undefined ? undefined : container.get(tokens.links);
  const storageConnections = container.getAll(tokens.connection, { optional: true });
  const shutDown = async () => {
    metrics?.close();
    metrics?.closeAllConnections();
    await Promise.all([http.connections.close(), links?.stop()]);
    await Promise.race([http.callers.settle(), delay(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
    await Promise.all(storageConnections.map((connection) => connection.close()));
  };
  try {
    await Promise.all(storageConnections.map((connection) => connection.open()));
    const metricsUrl = metrics && `${await listen(metrics, settings, 'METRICS_')}/metrics`;
    const { hasDemo } = storages[settings.STORAGE];
    const linksUrl = links && (await listen(links.server, settings, 'LINKS_'));
    // The key of a new demo workspace is printed only once. So a server that cannot listen must not create the
    // workspace.
    if (hasDemo) await checkAddress(settings);
    const prepared = hasDemo
      ? await prepareDemo(container.get(tokens.storageEngine), system, settings)
      : { demo: undefined, firstWorkspaceId: undefined };
    return {
      ...prepared,
      metricsUrl,
      linksUrl,
      url: await listen(http.server, settings),
      app,
      async stop(readinessDelayMs = 0) {
        http.responder.isStopping = true;
        // The connections to a database that does not respond may not close in time.
        const isComplete = await Promise.race([
          delay(readinessDelayMs)
            .then(shutDown)
            .then(() => true),
          delay(SHUTDOWN_TIMEOUT_MS, false, { ref: false }),
        ]);
        http.connections.closeAll();
        links?.closeAll();
        const lostCount = links?.clicks.pendingClickCount ?? 0;
        if (lostCount > 0) log.error({ clicks: lostCount }, 'clicks were lost, because they could not be stored');
        return isComplete;
      },
    };
  } catch (error) {
    await shutDown();
    throw error;
  }
}
