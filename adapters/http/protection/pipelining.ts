import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The maximum number of waiting requests of a connection. Node.js reads up to 64 KiB of a connection at once, and parses all requests in
 * these bytes. Requests with an API key are so long that 64 KiB contain fewer than this maximum.
 */
const MAX_WAITING_COUNT = 1_000;

interface ConnectionState {
  /** The response to the newest request. */
  newest: ServerResponse;
  waitingCount: number;
}

/**
 * Serves the pipelined requests of a connection one after another (RFC 9112, section 9.3.2). A request begins when the
 * previous response was sent, so that no response is created for a client that does not read. While a request waits, its
 * connection is not read. If a client has already sent more requests than may wait, the connection closes after the last waiting
 * request, and the client can send the remaining requests again.
 */
export class PipeliningQueue {
  private readonly connections = new WeakMap<Duplex, ConnectionState>();

  /** Returns the response to the newest request of a connection. */
  findNewestResponse(socket: Duplex): ServerResponse | undefined {
    return this.connections.get(socket)?.newest;
  }

  /** Begins a request when the previous response of its connection was sent. Discards it if the connection closes first. */
  add(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    const connection = this.connections.get(socket);
    if (!connection || connection.newest.closed) {
      this.connections.set(socket, { newest: response, waitingCount: 0 });
      begin();
      return;
    }
    if (connection.waitingCount === MAX_WAITING_COUNT) {
      connection.newest.shouldKeepAlive = false;
      return;
    }
    connection.waitingCount++;
    connection.newest.once('close', () => {
      if (!socket.writable) return;
      if (--connection.waitingCount === 0) socket.resume();
      begin();
    });
    connection.newest = response;
    // Pauses after all requests of this chunk are parsed, because Node resumes reading at the end of each request.
    process.nextTick(() => connection.waitingCount > 0 && socket.pause());
  }
}
