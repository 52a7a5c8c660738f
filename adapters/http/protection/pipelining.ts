import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Responder } from '../responder.ts';

/**
 * The maximum number of waiting requests of all connections. If it is reached, a connection that has a waiting request and
 * sends another one is closed.
 */
const MAX_PIPELINED_COUNT = 4_000;

interface PipelinedRequest {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/**
 * Serves the pipelined requests of a connection one after another (RFC 9112, section 9.3.2). A request begins when the
 * previous response was sent, so that no response is created for a client that does not read. While a request waits, its
 * connection is not read. When the connection closes, its waiting requests are discarded.
 */
export class PipeliningQueue {
  private readonly newestResponses = new WeakMap<Duplex, ServerResponse>();
  private readonly queues = new WeakMap<Duplex, PipelinedRequest[]>();
  private waitingCount = 0;

  constructor(private readonly responder: Responder) {}

  /** Returns the response to the newest request of a connection. */
  newestOf(socket: Duplex): ServerResponse | undefined {
    return this.newestResponses.get(socket);
  }

  /** Begins a request when the previous response of its connection was sent. */
  add(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    const previous = this.newestResponses.get(socket);
    this.newestResponses.set(socket, response);
    if (!previous || previous.closed) begin();
    else this.enqueue(socket, previous, { response, begin });
  }

  private enqueue(socket: Duplex, previous: ServerResponse, request: PipelinedRequest): void {
    const queue = this.queues.get(socket) ?? [];
    if (!this.queues.has(socket)) {
      this.queues.set(socket, queue);
      socket.once('close', () => this.clear(queue));
    }
    if (queue.length > 0 && this.waitingCount >= MAX_PIPELINED_COUNT) {
      this.responder.closeConnection(socket, 'too_many_pipelined');
      return;
    }
    this.waitingCount++;
    if (queue.push(request) > 1) return;
    previous.once('close', () => this.beginNext(socket, queue));
    // Pauses after all requests of this chunk are parsed, because Node resumes reading at the end of each request.
    process.nextTick(() => queue.length > 0 && socket.pause());
  }

  private beginNext(socket: Duplex, queue: PipelinedRequest[]): void {
    if (!socket.writable) this.clear(queue);
    const next = queue.shift();
    if (!next) return;
    this.waitingCount--;
    if (queue.length > 0) next.response.once('close', () => this.beginNext(socket, queue));
    else socket.resume();
    next.begin();
  }

  private clear(queue: PipelinedRequest[]): void {
    this.waitingCount -= queue.length;
    queue.length = 0;
  }
}
