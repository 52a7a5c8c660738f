import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import express, { type Express, type Request, type Response } from 'express';
import { operations } from '../api/operations.ts';
import { Admission } from './admission.ts';
import {
  findFramingError,
  guardConnections,
  isLastRequest,
  OpenConnections,
  TIMEOUT_CHECK_INTERVAL_MS,
} from './connections.ts';
import { serveDocs } from './docs/routes.ts';
import { HttpError } from './errors.ts';
import { LimitedAddresses } from './limited-addresses.ts';
import { handle, type PipelineServices } from './pipeline.ts';
import { PipeliningQueue } from './pipelining.ts';
import { bodyReader, type ReadBody } from './request-body.ts';
import { pathOf, readTarget } from './request-target.ts';
import { type Observer, Responder } from './responder.ts';

export interface HttpSettings {
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  /** Where the error codes are explained: a URL or a relative reference. */
  readonly docsUrl: string;
  /** Express' `trust proxy`. */
  readonly trustProxy: boolean | number | string;
}

/** The HTTP server of the API, not yet listening; `replies` can be told that it stops. */
export interface HttpService {
  readonly server: Server;
  readonly responder: Responder;
  readonly connections: OpenConnections;
}

export function createHttpService(
  core: Omit<PipelineServices, 'readBody' | 'responder' | 'limitedAddresses' | 'whileWaiting'>,
  settings: HttpSettings,
  observers: readonly Observer[],
): HttpService {
  const admission = new Admission((reason) => {
    for (const observer of observers) observer.onRejected?.(reason);
  });
  const responder = new Responder(settings.docsUrl, [...observers, admission]);
  const pipelining = new PipeliningQueue(responder);
  const read = bodyReader(settings.bodyLimit);
  const whileWaiting: PipelineServices['whileWaiting'] = (response, wait) =>
    admission.whileWaitingFor(responder.contextOf(response), wait, () => response.headersSent);
  const readBody: ReadBody = (request, response, holder) => whileWaiting(response, read(request, response, holder));
  const app = routes({ ...core, limitedAddresses: new LimitedAddresses(), responder, readBody, whileWaiting });
  app.set('trust proxy', settings.trustProxy);
  const options = {
    ...withPrototypesOf(app),
    requireHostHeader: false,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  };
  const server = createServer(options, (request, response) => {
    const problem = findFramingError(request);
    if (problem || isLastRequest(request, settings.bodyLimit)) response.shouldKeepAlive = false;
    const begin = () => {
      if (response.headersSent || response.closed) return false;
      const refusal = problem ?? readTarget(request);
      if (refusal) responder.fail(response, refusal);
      else
        app(request as Request, response as Response, (error) => responder.fail(response, error ?? notFound(request)));
      return true;
    };
    const reject = (error: Error) => !response.closed && responder.fail(response, error);
    pipelining.add(response, () => {
      if (response.headersSent) return;
      const { url = '', headers } = request;
      const { authorization } = headers;
      const waiting = { context: responder.contextOf(response), authorization, begin, reject };
      if (PROBE.test(url)) admission.addProbe(waiting);
      else admission.add(url, waiting, request.socket.remoteAddress);
    });
  });
  server.on('connection', () => admission.accepted());
  guardConnections(server, pipelining, responder);
  return { server, responder, connections: new OpenConnections(server, pipelining) };
}

/** Health probes are answered even under overload. */
const PROBE = /^\/(?:healthz|readyz)\/?(?:\?|$)/;

function routes(service: PipelineServices): Express {
  const { responder } = service;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');

  // Express asks one route after another: those of the API come first.
  for (const operation of operations) {
    const method = operation.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
    app[method](operation.path.replace('{id}', ':id'), handle(operation, service));
  }
  const missingFor = readiness(service);
  const get = (path: string, answer: (response: ServerResponse) => unknown) =>
    app.get(path, (_request, response) => {
      responder.contextOf(response).route = path;
      return answer(response);
    });
  get('/healthz', (response) => responder.send(response, 200, '{"status":"ok"}'));
  get('/readyz', async (response) => {
    const missing = await missingFor(response);
    const body = missing === undefined ? { status: 'ready' } : { status: 'unavailable', missing };
    responder.send(response, missing === undefined ? 200 : 503, JSON.stringify(body));
  });
  serveDocs(app, responder);
  app.use((request) => {
    throw notFound(request);
  });
  return app;
}

function notFound(request: IncomingMessage): HttpError {
  return new HttpError('not_found', `There is no ${request.method} ${pathOf(request)} here.`);
}

/**
 * Names what is missing to serve. What exactly is wrong with it is told to the observers, once for each outage. Those that
 * ask at the same time share an answer.
 */
function readiness({ app, responder }: PipelineServices) {
  let wasReady = true;
  let asked: Promise<void> | undefined;
  const ready = () => {
    asked ??= app.checkReady().finally(() => (asked = undefined));
    return asked;
  };
  return async (response: ServerResponse): Promise<'stopping' | 'storage' | undefined> => {
    if (responder.stopping) return 'stopping';
    try {
      await ready();
      wasReady = true;
      return undefined;
    } catch (error) {
      if (wasReady) responder.report(response, error);
      wasReady = false;
      return 'storage';
    }
  };
}

/**
 * Express sets the prototype of every request and response, which makes V8 give up on their shapes
 * (expressjs/express#5998). Objects that have these prototypes from the start make that a no-op: a get
 * takes half the processor time (docs/adr/0015-the-benchmark.md).
 */
function withPrototypesOf(app: Express) {
  const withPrototype = <Base extends typeof IncomingMessage | typeof ServerResponse>(
    base: Base,
    prototype: object,
  ) => {
    function construct(this: object, ...args: unknown[]) {
      Reflect.apply(base, this, args);
    }
    construct.prototype = prototype;
    return construct as unknown as Base;
  };
  return {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  };
}
