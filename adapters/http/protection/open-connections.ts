import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { KEEP_ALIVE_TIMEOUT_MS } from './connection-guard.ts';
import type { PipeliningQueue } from './pipelining.ts';

const IDLE_CHECK_INTERVAL_MS = 1_000;
/** The interval at which `close` checks whether all responses were sent. */
const DRAIN_POLL_INTERVAL_MS = 20;

/**
 * The open connections of a server. Closes connections that are idle for too long, and drains all connections at
 * shutdown.
 */
export class OpenConnections {
  private readonly sockets = new Set<Socket>();
  /**
   * The time at which `closeTimedOut` first saw that a connection was idle, by the last response of the connection. A
   * later response has no entry, so with it the time starts anew.
   */
  private readonly idleSinceByResponse = new WeakMap<ServerResponse, number>();

  constructor(
    private readonly server: Server,
    private readonly pipelining: PipeliningQueue,
  ) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    const timer = setInterval(() => this.closeTimedOut(performance.now()), IDLE_CHECK_INTERVAL_MS).unref();
    server.once('close', () => clearInterval(timer));
  }

  /**
   * Stops listening, and resolves when all connections are closed. Node.js treats a connection as idle as soon as its
   * response is written, even if the response has not been sent yet. So idle connections are closed only while no
   * connection has data to send. The other connections are closed after their responses.
   */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    let isClosed = false;
    this.server.once('close', () => (isClosed = true));
    // The `close` method of node:http would close the idle connections at once, and cut off responses that are being
    // sent.
    NetServer.prototype.close.call(this.server);
    while (!isClosed) {
      if (![...this.sockets].some(({ writableLength }) => writableLength > 0)) this.closeIdle();
      await delay(DRAIN_POLL_INTERVAL_MS);
    }
  }

  /** Closes all connections at once, whether or not they are idle. */
  closeAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * Stops reading until the next iteration of the event loop. The memory of a connection that was closed is freed only
   * between two iterations, so one iteration must not read many connections that have to be closed.
   */
  pauseReading(): void {
    const reading = [...this.sockets].filter((socket) => !socket.isPaused());
    for (const socket of reading) socket.pause();
    setImmediate(() => {
      for (const socket of reading) socket.resume();
    });
  }

  /**
   * Closes the idle connections. Connections that have received no byte yet are idle, too, although Node does not count
   * them.
   */
  private closeIdle(): void {
    this.server.closeIdleConnections();
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  /**
   * Closes the connections that exceed the keep-alive timeout. Node's own timeout does not suffice, because it restarts
   * whenever the client sends an empty line (CRLF) between requests.
   */
  private closeTimedOut(now: number): void {
    for (const socket of this.sockets) {
      const newest = this.pipelining.findNewestResponse(socket);
      if (!newest?.closed) continue;
      const idleSince = this.idleSinceByResponse.get(newest) ?? now;
      this.idleSinceByResponse.set(newest, idleSince);
      if (now - idleSince > KEEP_ALIVE_TIMEOUT_MS) socket.destroy();
    }
  }
}
