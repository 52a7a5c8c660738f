import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { HttpService } from '../adapters/http/http-server.ts';
import type { LinkServer } from '../adapters/links/link-server.ts';
import type { DeliveryLoop } from '../adapters/webhooks/delivery-loop.ts';
import type { Connection } from './storages.ts';

/**
 * The time for which a stopping server still accepts connections, so that a load balancer notices that it is not ready.
 */
const READINESS_DELAY_MS = 1_000;
/** The time after the signal at which the server closes the connections that are still open. */
const SHUTDOWN_TIMEOUT_MS = 10_000;
/** The maximum time, within `SHUTDOWN_TIMEOUT_MS`, to wait until `lastUsedAt` of the API keys is stored. */
const FLUSH_TIMEOUT_MS = 2_000;

/** The parts of a server that a shutdown stops. */
export interface ServerParts {
  readonly http: HttpService;
  readonly links: LinkServer | undefined;
  readonly metrics: Server | undefined;
  readonly webhooks: DeliveryLoop;
  readonly connections: readonly Connection[];
}

/**
 * Shuts a server down gracefully. From the call on, it is not ready, and closes each connection after its next
 * response. After `readinessDelayMs`, it accepts no more connections and drains the open ones. Resolves to `true` when
 * all connections, also those to the storage, are closed. Resolves to `false` at the shutdown timeout.
 */
export async function shutDown(parts: ServerParts, log: Logger, readinessDelayMs: number): Promise<boolean> {
  const { http, links } = parts;
  http.responder.isStopping = true;
  const drain = async () => {
    await delay(readinessDelayMs);
    await closeServer(parts);
    return true;
  };
  // The connections to a database that does not respond may not close in time.
  const isComplete = await Promise.race([drain(), delay(SHUTDOWN_TIMEOUT_MS, false, { ref: false })]);
  http.connections.closeAll();
  links?.closeAll();
  const lostCount = links?.clicks.pendingClickCount ?? 0;
  if (lostCount > 0) log.error({ clicks: lostCount }, 'clicks were lost, because they could not be stored');
  return isComplete;
}

/** Closes the servers, then stores what is not stored yet, and then closes the connections to the storage. */
export async function closeServer({ http, links, metrics, webhooks, connections }: ServerParts): Promise<void> {
  metrics?.close();
  metrics?.closeAllConnections();
  await Promise.all([http.connections.close(), links?.stop(), webhooks.stop()]);
  await Promise.race([http.callers.settle(), delay(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
  await Promise.all(connections.map((connection) => connection.close()));
}

/** A server that a signal can stop. */
export interface StoppableServer {
  readonly log: Logger;
  stop(readinessDelayMs: number): Promise<boolean>;
}

/**
 * Exits on SIGTERM or SIGINT: after a graceful shutdown, or at once on the second signal or if no server has started
 * yet. `getServer` returns the server if it has started.
 */
export function exitOnSignal(getServer: () => StoppableServer | undefined): void {
  let isStopping = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    const server = getServer();
    if (!server) process.exit(0);
    const { log } = server;
    if (isStopping) {
      log.warn({ signal }, 'second signal, exiting at once');
      process.exit(0);
    }
    isStopping = true;
    log.info({ signal }, 'shutdown started');
    if (await server.stop(READINESS_DELAY_MS)) log.info('shutdown complete');
    else log.warn('shutdown timed out, the remaining connections were closed');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
}
