import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { operations } from '../api/operations.ts';
import { errorBody, HttpError, statusOf, toHttpError } from './errors.ts';
import { type Service, send, serve } from './pipeline.ts';
import { bodyReader } from './wire.ts';

export interface HttpSettings {
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  /** Where the error codes are explained: a URL or a relative reference. */
  readonly docsUrl: string;
  /** Express' `trust proxy`. */
  readonly trustProxy: boolean | number | string;
}

type Core = Omit<Service, 'readBody'>;

/** The HTTP server of the API, not yet listening. */
export function httpServer(core: Core, settings: HttpSettings, log: Logger): Server {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.set('trust proxy', settings.trustProxy);

  app.use((_request, response, next) => {
    response.locals.requestId = randomUUID();
    next();
  });
  app.get('/healthz', (_request, response) => send(response, 200, '{"status":"ok"}'));
  app.get('/readyz', async (_request, response) => {
    const missing = await core.application.ready().then(() => undefined, String);
    const body = missing === undefined ? { status: 'ready' } : { status: 'unavailable', missing };
    send(response, missing === undefined ? 200 : 503, JSON.stringify(body));
  });
  const service = { ...core, readBody: bodyReader(settings.bodyLimit) };
  for (const operation of operations) {
    const method = operation.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
    app[method](operation.path.replace('{id}', ':id'), serve(operation, service));
  }
  app.use((request) => {
    throw new HttpError('not_found', `There is no ${request.method} ${request.path} here.`);
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const refusal = toHttpError(error);
    if (refusal.code === 'internal_server_error') {
      log.error({ err: error, requestId: response.locals.requestId, method: request.method }, 'a request failed');
    }
    if (response.headersSent) response.destroy();
    else send(response, statusOf[refusal.code], errorBody(refusal, settings.docsUrl), refusal.headers);
  });
  return createServer(withPrototypesOf(app), app);
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
