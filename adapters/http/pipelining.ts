import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Responder } from './responder.ts';

/** So many requests may wait for others of their connections, of all together; then a second one loses its connection. */
const MAX_WAITING_COUNT = 4_000;

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/**
 * Lets the requests of a connection (RFC 9112, section 9.3.2) take turns: one is begun when the reply before it has gone out,
 * so that no reply is made for a client that does not read. While one waits, its connection is not read; when the
 * connection ends, it is forgotten.
 */
export class PipeliningQueue {
  private readonly newest = new WeakMap<Duplex, ServerResponse>();
  private readonly queues = new WeakMap<Duplex, Waiting[]>();
  private waiting = 0;

  constructor(private readonly responder: Responder) {}

  /** The response to the newest request of a connection. */
  newestOf(socket: Duplex): ServerResponse | undefined {
    return this.newest.get(socket);
  }

  /** Has a request begun when its turn has come. */
  add(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    const before = this.newest.get(socket);
    this.newest.set(socket, response);
    if (!before || before.closed) begin();
    else this.wait(socket, before, { response, begin });
  }

  private wait(socket: Duplex, before: ServerResponse, request: Waiting): void {
    const line = this.queues.get(socket) ?? [];
    if (!this.queues.has(socket)) {
      this.queues.set(socket, line);
      socket.once('close', () => this.clear(line));
    }
    if (line.length > 0 && this.waiting >= MAX_WAITING_COUNT) {
      this.responder.closeConnection(socket, 'too_many_pipelined');
      return;
    }
    this.waiting++;
    if (line.push(request) > 1) return;
    before.once('close', () => this.beginNext(socket, line));
    // Behind what came in one piece: Node goes on reading at the end of each request.
    process.nextTick(() => line.length > 0 && socket.pause());
  }

  private beginNext(socket: Duplex, line: Waiting[]): void {
    if (!socket.writable) this.clear(line);
    const next = line.shift();
    if (!next) return;
    this.waiting--;
    if (line.length > 0) next.response.once('close', () => this.beginNext(socket, line));
    else socket.resume();
    next.begin();
  }

  private clear(line: Waiting[]): void {
    this.waiting -= line.length;
    line.length = 0;
  }
}
