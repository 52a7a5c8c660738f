import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { operations } from '../api/operations.ts';
import { CHECK_MS, frameProblem, guardConnections } from './connections.ts';
import { HttpError } from './errors.ts';
import { type Service, serve } from './pipeline.ts';
import { type Observer, Replies } from './replies.ts';
import { bodyReader } from './wire.ts';

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
  readonly replies: Replies;
}

export function httpService(
  core: Omit<Service, 'readBody' | 'replies'>,
  settings: HttpSettings,
  observers: readonly Observer[],
): HttpService {
  const replies = new Replies(settings.docsUrl, observers);
  const app = routes({ ...core, replies, readBody: bodyReader(settings.bodyLimit) });
  app.set('trust proxy', settings.trustProxy);
  const options = { ...withPrototypesOf(app), requireHostHeader: false, connectionsCheckingInterval: CHECK_MS };
  const server = createServer(options, (request, response) => {
    replies.exchangeOf(response, request);
    const problem = frameProblem(request);
    if (problem) replies.fail(response, problem);
    else app(request, response);
  });
  guardConnections(server, replies);
  return { server, replies };
}

function routes(service: Service): Express {
  const { application, replies } = service;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');

  app.get('/healthz', (_request, response) => replies.send(response, 200, '{"status":"ok"}'));
  app.get('/readyz', async (_request, response) => {
    const missing = replies.stopping ? 'stopping' : await application.ready().then(() => undefined, messageOf);
    const body = missing === undefined ? { status: 'ready' } : { status: 'unavailable', missing };
    replies.send(response, missing === undefined ? 200 : 503, JSON.stringify(body));
  });
  for (const operation of operations) {
    const method = operation.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
    app[method](operation.path.replace('{id}', ':id'), serve(operation, service));
  }
  app.use((request) => {
    throw new HttpError('not_found', `There is no ${request.method} ${request.path} here.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    replies.fail(response, error);
  });
  return app;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Express sets the prototype of every request and response, which makes V8 give up on their shapes
 * (expressjs/express#5998). Objects that have these prototypes from the start make that a no-op.
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
