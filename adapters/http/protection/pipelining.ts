import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The maximum number of waiting requests of a connection. Clients that pipeline send some dozens of requests at once.
 */
const MAX_WAITING_COUNT = 100;
/**
 * The maximum number of waiting requests of all connections, without the first of each. A waiting request takes about 3
 * KB.
 */
const MAX_TOTAL_COUNT = 5_000;

interface ConnectionState {
  /** The response to the newest request. */
  newest: ServerResponse;
  waitingCount: number;
}

/**
 * Serves the pipelined requests of a connection one after another (RFC 9112, section 9.3.2). A request begins when the
 * previous response was sent, so that no response is created for a client that does not read. While a request waits,
 * its connection is not read. But Node.js parses all requests in 64 KiB that it has read, and keeps them until the
 * connection closes. So a connection with too many waiting requests is closed at once, and `onFlood` is called.
 */
export class PipeliningQueue {
  private readonly connections = new WeakMap<Duplex, ConnectionState>();
  private totalCount = 0;

  constructor(private readonly onFlood: () => void) {}

  /** Returns the response to the newest request of a connection. */
  findNewestResponse(socket: Duplex): ServerResponse | undefined {
    return this.connections.get(socket)?.newest;
  }

  /**
   * Begins a request when the previous response of its connection was sent. Discards it if the connection closes first.
   */
  add(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    if (socket.destroyed) return;
    const connection = this.connections.get(socket);
    if (!connection || connection.newest.closed) {
      if (connection) connection.newest = response;
      else this.addConnection(socket, response);
      begin();
      return;
    }
    const { waitingCount } = connection;
    if (waitingCount === MAX_WAITING_COUNT || (waitingCount > 0 && this.totalCount >= MAX_TOTAL_COUNT)) {
      socket.destroy();
      this.onFlood();
      return;
    }
    this.count(connection, 1);
    connection.newest.once('close', () => {
      if (!socket.writable) return;
      this.count(connection, -1);
      if (connection.waitingCount === 0) socket.resume();
      begin();
    });
    connection.newest = response;
    // Pauses after all requests of this chunk are parsed, because Node resumes reading at the end of each request.
    process.nextTick(() => connection.waitingCount > 0 && socket.pause());
  }

  private addConnection(socket: Duplex, newest: ServerResponse): void {
    const connection = { newest, waitingCount: 0 };
    this.connections.set(socket, connection);
    socket.once('close', () => this.count(connection, -connection.waitingCount));
  }

  private count(connection: ConnectionState, change: number): void {
    connection.waitingCount += change;
    this.totalCount += change;
  }
}
