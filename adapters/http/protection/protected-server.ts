import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { HttpError } from '../errors.ts';
import { findFramingProblem, mustCloseAfter } from '../request-framing.ts';
import { type Fail, guardConnections, TIMEOUT_CHECK_INTERVAL_MS } from './connection-guard.ts';
import { OpenConnections } from './open-connections.ts';
import { PipeliningQueue } from './pipelining.ts';

/** An HTTP server that is protected from slow clients, and from pipelined and malformed requests. It does not listen yet. */
export interface ProtectedServer {
  readonly server: Server;
  readonly connections: OpenConnections;
}

export interface ProtectedServerOptions {
  /** The maximum size of a request body, in bytes. `0` if no bodies are read. */
  readonly bodyLimit: number;
  /** The classes of requests and responses, if they are not those of Node. */
  readonly messageClasses?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;
  /** Calls `begin` when the server has the capacity to serve a request. By default, all requests begin immediately. */
  readonly admit?: (request: IncomingMessage, response: ServerResponse, begin: () => void) => void;
}

/**
 * Creates a server that calls `begin` for each request that it should serve: after the earlier requests of its connection, and when
 * `admit` lets it begin. The server calls `fail` for a request that is malformed, is too slow or has the method `CONNECT`.
 */
export function createProtectedServer(
  begin: RequestListener,
  fail: Fail,
  { bodyLimit, messageClasses, admit = (_request, _response, beginNow) => beginNow() }: ProtectedServerOptions,
): ProtectedServer {
  const pipelining = new PipeliningQueue();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const problem = findFramingProblem(request);
    if (problem || mustCloseAfter(request, bodyLimit)) response.shouldKeepAlive = false;
    const beginOrFail = () => {
      if (problem) fail(response, new HttpError('bad_request', problem));
      else begin(request, response);
    };
    pipelining.add(response, () => admit(request, response, beginOrFail));
  };
  const server = createServer(
    { ...messageClasses, requireHostHeader: false, connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS },
    onRequest,
  );
  guardConnections(server, pipelining, fail);
  return { server, connections: new OpenConnections(server, pipelining) };
}
