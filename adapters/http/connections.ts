import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpError } from './errors.ts';
import type { PipeliningQueue } from './pipelining.ts';
import type { Responder } from './responder.ts';

const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 50_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/**
 * Node counts neither colons nor line breaks in its 16 KiB: without this, a head of 64 KB has 16,000 headers, which take
 * 400 KB. It keeps some more than these, by which the head is refused, and forgets the others.
 */
const MAX_HEADER_COUNT = 200;
/** How long a connection is still read after its last reply. */
const LINGER_TIMEOUT_MS = 1_000;
const IDLE_CHECK_INTERVAL_MS = 1_000;
/** How often it is seen, at the end, whether replies have gone. */
const DRAIN_POLL_INTERVAL_MS = 20;

/** How often Node looks for requests that are too slow. */
export const TIMEOUT_CHECK_INTERVAL_MS = 5_000;

/**
 * Answers with the error object what Node would refuse by itself, or with another status, or not at all: requests that
 * cannot be parsed or that are too slow, `CONNECT`. What is expected with `Expect` goes the way of every request. A
 * connection that ends is read for a moment more, so that what the client still sends does not reset its last reply.
 */
export function guardConnections(server: Server, pipelining: PipeliningQueue, responder: Responder): void {
  const refused = new WeakSet<Duplex>();
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxHeadersCount = MAX_HEADER_COUNT;
  // A client that ends its side behind its request still waits for the reply. (Its type has no name for it.)
  Object.assign(server, { httpAllowHalfOpen: true });

  server.on('connection', (socket) => {
    socket.destroySoon = () => linger(socket);
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    // What was too slow would still be parsed when it goes on.
    stopParsing(socket);
    const refusal = new HttpError('bad_request', problemOf(error));
    const response = pipelining.newestOf(socket);
    if (response && !response.req.complete) refuseRequest(response, refusal, socket);
    else afterResponse(response, () => refuseConnection(socket, refusal));
  });

  for (const expectation of ['checkContinue', 'checkExpectation']) {
    server.on(expectation, (request, response) => server.emit('request', request, response));
  }

  server.on('connect', (request, socket) => {
    refused.add(socket);
    socket.on('error', () => socket.destroy());
    afterResponse(pipelining.newestOf(socket), () => {
      refuseConnection(socket, new HttpError('not_found', 'There is no CONNECT here.'), request);
    });
  });

  /** The request that is being served turned out to be broken. */
  function refuseRequest(response: ServerResponse, refusal: HttpError, socket: Duplex): void {
    response.shouldKeepAlive = false;
    if (!response.headersSent) responder.fail(response, refusal);
    afterResponse(response, () => linger(socket));
  }

  function refuseConnection(socket: Duplex, refusal: HttpError, request = new IncomingMessage(socket as Socket)): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => {
      response.detachSocket(socket as Socket);
      linger(socket);
    });
    responder.fail(response, refusal);
  }
}

/** The open connections of a server. */
export class OpenConnections {
  private readonly open = new Set<Socket>();
  private readonly idleSince = new WeakMap<ServerResponse, number>();

  constructor(
    private readonly server: Server,
    private readonly pipelining: PipeliningQueue,
  ) {
    server.on('connection', (socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
    const checking = setInterval(() => this.closeLongIdle(performance.now()), IDLE_CHECK_INTERVAL_MS).unref();
    server.once('close', () => clearInterval(checking));
  }

  /** Stops listening, and resolves when all have ended: those without a request at once, others behind their replies. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    let isClosed = false;
    this.server.once('close', () => (isClosed = true));
    // That of node:http would cut replies that are still being sent: it takes what was made for what has gone.
    NetServer.prototype.close.call(this.server);
    while (!isClosed) {
      if (![...this.open].some(({ writableLength }) => writableLength > 0)) this.closeIdle();
      await delay(DRAIN_POLL_INTERVAL_MS);
    }
  }

  /** Ends them all. */
  closeAll(): void {
    for (const socket of this.open) socket.destroy();
  }

  /** Node does not take for idle what nothing came over yet. */
  private closeIdle(): void {
    this.server.closeIdleConnections();
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy();
  }

  /** Node takes an empty line for a sign of life. */
  private closeLongIdle(now: number): void {
    for (const socket of this.open) {
      const newest = this.pipelining.newestOf(socket);
      if (!newest?.closed) continue;
      const since = this.idleSince.get(newest) ?? now;
      this.idleSince.set(newest, since);
      if (now - since > KEEP_ALIVE_TIMEOUT_MS) socket.destroy();
    }
  }
}

/** Runs `then` when the reply before it, if there is one under way, has gone out. */
function afterResponse(response: ServerResponse | undefined, then: () => void): void {
  if (!response || response.closed) then();
  else response.once('close', then);
}

/** Ends our side, and takes what still comes for a moment, unread: closing at once would reset what we wrote. */
function linger(socket: Duplex): void {
  socket.end();
  stopParsing(socket);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS).unref();
}

/** Has Node throw away what still comes. */
function stopParsing(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
}

const problems: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
  HPE_HEADER_OVERFLOW: 'The headers are too large: send at most 16 KiB.',
  HPE_INVALID_METHOD: 'The method is none of HTTP.',
  HPE_INVALID_EOF_STATE: 'The request ended before it was complete.',
};

function problemOf({ code = '' }: NodeJS.ErrnoException): string {
  return problems[code] ?? 'The request is no valid HTTP/1.1.';
}

const HOST = /^[^\s/?#@\\]*$/;

/** What is wrong with the frame of a request that Node could parse, or nothing. */
export function findFramingError(request: IncomingMessage): HttpError | undefined {
  if (request.httpVersionMajor !== 1) return new HttpError('bad_request', 'The request must be HTTP/1.1 or HTTP/1.0.');
  if (request.rawHeaders.length > 2 * MAX_HEADER_COUNT) {
    return new HttpError('bad_request', `There are too many headers: send at most ${MAX_HEADER_COUNT}.`);
  }
  const hosts = headerCount(request, 'host');
  if (hosts > 1) return new HttpError('bad_request', 'Two Host headers were sent: send one.');
  if (hosts === 0 && request.httpVersionMinor > 0) {
    return new HttpError('bad_request', 'The Host header is missing: send it.');
  }
  const { host = '', expect = '100-continue', 'transfer-encoding': coding } = request.headers;
  if (!HOST.test(host)) return new HttpError('bad_request', 'The Host header is no host and port.');
  if (expect.toLowerCase() !== '100-continue') {
    return new HttpError('bad_request', 'The only Expect that is known here is 100-continue.');
  }
  if (coding === undefined) return undefined;
  if (request.httpVersionMinor === 0) {
    return new HttpError('bad_request', 'HTTP/1.0 has no Transfer-Encoding: send a Content-Length.');
  }
  if (coding.toLowerCase() !== 'chunked') {
    return new HttpError('bad_request', 'The only Transfer-Encoding that is known here is chunked.');
  }
  return undefined;
}

/**
 * Whether a request is the last of its connection: its body is too large to be read to its end, or it asks for another
 * protocol, for then Node does not read on where it should.
 */
export function isLastRequest({ headers }: IncomingMessage, bodyLimit: number): boolean {
  return headers.upgrade !== undefined || Number(headers['content-length'] ?? 0) > bodyLimit;
}

/** How many times a header was sent; Node keeps the first alone of those that may be sent once. */
export function headerCount({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
