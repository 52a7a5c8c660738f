import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { HttpError } from '../errors.ts';
import { findFramingProblem, hasBody, mustCloseAfter } from '../request-framing.ts';
import { type Fail, guardConnections, TIMEOUT_CHECK_INTERVAL_MS } from './connection-guard.ts';
import { joinChunks } from './join-chunks.ts';
import { OpenConnections } from './open-connections.ts';
import { PipeliningQueue } from './pipelining.ts';

/**
 * An HTTP server that is protected from slow clients, and from pipelined and malformed requests. It does not listen
 * yet.
 */
export interface ProtectedServer {
  readonly server: Server;
  readonly connections: OpenConnections;
}

export interface ProtectedServerOptions {
  /** The maximum size of a request body, in bytes. `0` if no bodies are read. */
  readonly bodyLimit: number;
  /** The classes of requests and responses, if they are not those of Node. */
  readonly messageClasses?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;
  /** Calls `serve` when the server has the capacity to serve a request. By default, calls it immediately. */
  readonly admit?: (request: IncomingMessage, response: ServerResponse, serve: () => void) => void;
}

/**
 * Creates a server that calls `serve` for each valid request. The request first waits for the responses to the earlier
 * requests of its connection, and then for `admit`. If a request is malformed, is too slow or has the method `CONNECT`,
 * the server calls `fail` instead of `serve`.
 */
export function createProtectedServer(
  serve: RequestListener,
  fail: Fail,
  { bodyLimit, messageClasses, admit = (_request, _response, serveNow) => serveNow() }: ProtectedServerOptions,
): ProtectedServer {
  const pipelining = new PipeliningQueue(() => connections.pauseReading());
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (hasBody(request)) joinChunks(request);
    const problem = findFramingProblem(request);
    if (problem || mustCloseAfter(request, bodyLimit)) response.shouldKeepAlive = false;
    const serveOrFail = () => {
      if (problem) fail(response, new HttpError('bad_request', problem));
      else serve(request, response);
    };
    pipelining.add(response, () => admit(request, response, serveOrFail));
  };
  const server = createServer(
    { ...messageClasses, requireHostHeader: false, connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS },
    onRequest,
  );
  const connections = new OpenConnections(server);
  guardConnections(server, pipelining, fail);
  return { server, connections };
}
