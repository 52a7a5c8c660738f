import type { Logger } from 'pino';
import { createNodeSystem } from '../adapters/node/system.ts';
import type { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import { tokens, wireServer } from './container.ts';
import { checkAddress, getLinksUrl, type ListeningAddresses, listen } from './listen.ts';
import { type PreparedDemo, prepareDemo } from './prepare-demo.ts';
import type { Settings } from './settings.ts';
import { closeServer, shutDown } from './shutdown.ts';
import { storages } from './storages.ts';

/** An HTTP server that is listening. */
export interface RunningServer extends ListeningAddresses, PreparedDemo {
  readonly app: Application;
  /** Shuts down gracefully (`shutDown`). */
  stop(readinessDelayMs?: number): Promise<boolean>;
}

/**
 * Starts the HTTP server of this process, and the servers of its metrics and of short links. Rejects with a
 * `StartupError` if one of them cannot listen, or if the database cannot be used.
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
  const connections = container.getAll(tokens.connection, { optional: true });
  const webhooks = container.get(tokens.deliveryLoop);
  const parts = { http, links, metrics, webhooks, connections };
  try {
    await Promise.all(connections.map((connection) => connection.open()));
    const metricsUrl = metrics && `${await listen(metrics, settings, 'METRICS_')}/metrics`;
    const { hasDemo } = storages[settings.STORAGE];
    const linksUrl = links && (await listen(links.server, settings, 'LINKS_'));
    // With LINKS_PORT=0, the port is known only now.
    if (settings.LINKS_PORT === 0 && getLinksUrl(settings) !== settings.LINKS_URL)
      container.get(tokens.linkOptions).baseUrl = linksUrl;
    // The key of a new demo workspace is printed only once. So a server that cannot listen must not create the
    // workspace.
    if (hasDemo) await checkAddress(settings);
    const prepared = hasDemo
      ? await prepareDemo(container.get(tokens.storage).engine, system, settings)
      : { demo: undefined, firstWorkspaceId: undefined };
    webhooks.start();
    return {
      ...prepared,
      metricsUrl,
      linksUrl,
      url: await listen(http.server, settings),
      app,
      stop: (readinessDelayMs = 0) => shutDown(parts, log, readinessDelayMs),
    };
  } catch (error) {
    await closeServer(parts);
    throw error;
  }
}
