import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { type Fail, guardConnections, TIMEOUT_CHECK_INTERVAL_MS } from './connection-guard.ts';
import { OpenConnections } from './open-connections.ts';
import { PipeliningQueue } from './pipelining.ts';

/** An HTTP server that is protected from slow clients, and from pipelined and malformed requests. It does not listen yet. */
export class ProtectedServer {
  readonly server: Server;
  private readonly pipelining = new PipeliningQueue();
  private readonly connections: OpenConnections;

  /**
   * Creates a server that calls `onRequest` when a request arrives, also if earlier requests of its connection are still served.
   * `fail` responds to a request that cannot be parsed, is too slow or has the method `CONNECT`.
   */
  constructor(onRequest: RequestListener, fail: Fail, options: ServerOptions = {}) {
    this.server = createServer(
      { ...options, requireHostHeader: false, connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS },
      onRequest,
    );
    guardConnections(this.server, this.pipelining, fail);
    this.connections = new OpenConnections(this.server, this.pipelining);
  }

  /** Begins a request when the previous response of its connection was sent. Discards it if the connection closes first. */
  beginInOrder(response: ServerResponse, begin: () => void): void {
    this.pipelining.add(response, begin);
  }

  /** Stops listening, and resolves when all connections are closed: the idle ones at once, the others after their responses. */
  close(): Promise<void> {
    return this.connections.close();
  }

  /** Closes all connections at once, whether or not they are idle. */
  closeAll(): void {
    this.connections.closeAll();
  }
}
