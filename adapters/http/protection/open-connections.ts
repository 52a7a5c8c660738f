import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The interval at which `close` checks whether all responses were sent. */
const DRAIN_POLL_INTERVAL_MS = 20;

/** The open connections of a server, which are drained at shutdown. */
export class OpenConnections {
  private readonly sockets = new Set<Socket>();
  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
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
   * Stops reading until the next iteration of the event loop. The memory of a closed connection is freed only between
   * two iterations. So one iteration must not read many connections that have to be closed.
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
}
