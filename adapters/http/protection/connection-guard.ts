import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createTransientError, HttpError } from '../errors.ts';
import { MAX_HEADER_COUNT } from '../request-framing.ts';
import type { PipeliningQueue } from './pipelining.ts';

const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 50_000;
/** The time after which an idle connection is closed. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** The time for which a connection is still read after its last response. */
const LINGER_TIMEOUT_MS = 1_000;
/** The interval at which Node checks for requests that exceed a timeout. */
export const TIMEOUT_CHECK_INTERVAL_MS = 5_000;

/** Responds to a request with an error. */
export type Fail = (response: ServerResponse, error: unknown) => void;

/**
 * Sets the timeouts of a server, and calls `fail` if a request cannot be parsed, is too slow or has the method
 * `CONNECT`. In these cases, Node would send another status or no response. Requests with `Expect` are served like
 * other requests. A connection is read for a moment after its last response. If the connection were closed at once
 * while the client is still sending, a reset could discard the response.
 */
export function guardConnections(server: Server, pipelining: PipeliningQueue, fail: Fail): void {
  const rejected = new WeakSet<Duplex>();
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxHeadersCount = MAX_HEADER_COUNT;
  // A client that has ended its side of the connection still gets the response. The type `Server` lacks
  // `httpAllowHalfOpen`.
  Object.assign(server, { httpAllowHalfOpen: true });

  server.on('connection', (socket) => {
    // Node calls `destroySoon` after the last response of a connection.
    socket.destroySoon = () => linger(socket);
  });

  server.on('clientError', (parserError: NodeJS.ErrnoException, socket) => {
    if (rejected.has(socket)) return;
    rejected.add(socket);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    // If the parser went on, a request that exceeded a timeout would still be parsed if its client continued to send
    // it.
    stopParsing(socket);
    const error = createParserError(parserError);
    const response = pipelining.findNewestResponse(socket);
    if (response && !response.req.complete) rejectRequest(response, error, socket);
    else runAfterResponse(response, () => rejectConnection(socket, error));
  });

  for (const expectation of ['checkContinue', 'checkExpectation']) {
    server.on(expectation, (request, response) => server.emit('request', request, response));
  }

  server.on('connect', (request, socket) => {
    rejected.add(socket);
    socket.on('error', () => socket.destroy());
    runAfterResponse(pipelining.findNewestResponse(socket), () => {
      rejectConnection(socket, new HttpError('not_found', CONNECT_MESSAGE), request);
    });
  });

  /** Rejects a request that turns out to be malformed while it is being served. */
  function rejectRequest(response: ServerResponse, error: HttpError, socket: Duplex): void {
    response.shouldKeepAlive = false;
    if (!response.headersSent) fail(response, error);
    runAfterResponse(response, () => linger(socket));
  }

  function rejectConnection(socket: Duplex, error: HttpError, request = new IncomingMessage(socket as Socket)): void {
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
    fail(response, error);
  }
}

/**
 * Calls `callback` when `response` was sent or its connection is closed, or at once if there is nothing to wait for.
 */
function runAfterResponse(response: ServerResponse | undefined, callback: () => void): void {
  if (!response || response.closed) callback();
  else response.once('close', callback);
}

/**
 * Ends our side of a connection and discards what still arrives. Closing the connection at once could discard the
 * response.
 */
function linger(socket: Duplex): void {
  socket.end();
  stopParsing(socket);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS).unref();
}

/** Replaces Node's parser by a listener that discards what arrives. */
function stopParsing(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
}

const METHOD_ADVICE = 'Use GET, POST, PATCH or DELETE';
const CONNECT_MESSAGE = `The method CONNECT is not supported. ${METHOD_ADVICE}.`;

const TIMEOUT_MESSAGE =
  `The request took too long to arrive. Send the headers within ${HEADERS_TIMEOUT_MS / 1000} seconds, ` +
  `and the whole request within ${REQUEST_TIMEOUT_MS / 1000} seconds.`;

/** Messages for the error codes of llhttp, the parser of Node. */
const PARSER_MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large. Send at most 16 KiB.',
  HPE_INVALID_METHOD: `The request method is not a valid HTTP method. ${METHOD_ADVICE}.`,
  HPE_INVALID_EOF_STATE: 'The request ended before it was complete. Send all of it.',
};

function createParserError({ code = '' }: NodeJS.ErrnoException): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return createTransientError('bad_request', TIMEOUT_MESSAGE, 'too_slow');
  const message =
    PARSER_MESSAGES[code] ?? 'The request is not valid HTTP/1.1. Send a request in the syntax of RFC 9112.';
  return new HttpError('bad_request', message);
}
