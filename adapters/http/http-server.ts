import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import express, { type Express, type Request, type Response } from 'express';
import { operations } from '../api/operations.ts';
import { ApiKeyCache } from './api-key-cache.ts';
import { type AuthenticationServices, createAuthenticator } from './authentication.ts';
import { serveDocs } from './docs-routes.ts';
import { HttpError } from './errors.ts';
import { isHealthProbe, serveHealthProbes } from './health-probes.ts';
import { MCP_PATH, serveMcp } from './mcp-route.ts';
import type { Observer } from './observer.ts';
import { createOperationHandler, type HandlerServices } from './operation-handler.ts';
import { type ProtectedServer, Protection, type RequestKind } from './protection/protection.ts';
import { createBodyReader } from './request-body.ts';
import { getPath, normalizeTargetOrFindProblem, removeOrigin } from './request-target.ts';
import { Responder } from './responder.ts';
import { createProxyCheck, type TrustProxy } from './trust-proxy.ts';

/** The settings of the HTTP server. */
export interface HttpSettings {
  /** The maximum size of a request body, in bytes. */
  readonly bodyLimit: number;
  /** The base of `doc_url`: a URL or a path. */
  readonly docsUrl: string;
  readonly trustProxy: TrustProxy;
  /** Whether to serve the operations to agents, too. */
  readonly mcp: boolean;
  /** The secret that the operator chose for an API key. It need not have the format of random secrets. */
  readonly chosenSecret?: string | undefined;
}

/** The HTTP server of the API with its parts. It does not listen yet. */
export interface HttpService {
  readonly server: Server;
  readonly responder: Responder;
  readonly connections: ProtectedServer['connections'];
  readonly callers: ApiKeyCache;
}

/** Creates the HTTP server, with its protection and the observers. */
export function createHttpService(
  services: Pick<HandlerServices, 'app' | 'requestLimiter'> & Omit<AuthenticationServices, 'callers'>,
  settings: HttpSettings,
  observers: readonly Observer[],
): HttpService {
  const protection = new Protection(observers);
  const responder = new Responder(settings.docsUrl, [...observers, protection]);
  const callers = new ApiKeyCache(services.app.apiKeys, settings.chosenSecret);
  const authenticate = createAuthenticator({ ...services, callers });
  const readBody = createBodyReader(settings.bodyLimit, protection);
  const expressApp = createExpressApp({ ...services, responder, protection, authenticate, readBody }, settings.mcp);
  expressApp.set('trust proxy', createProxyCheck(settings.trustProxy));

  const fail = (response: ServerResponse, error: unknown) => responder.fail(response, error);
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const problem = normalizeTargetOrFindProblem(request);
    if (problem) fail(response, new HttpError('bad_request', problem));
    else
      expressApp(request as Request, response as Response, (error) =>
        fail(response, error ?? createNotFoundError(request)),
      );
  };
  const { bodyLimit } = settings;
  const { server, connections } = protection.createServer(serve, fail, classifyRequest, {
    bodyLimit,
    messageClasses: createMessageClasses(expressApp),
  });
  return { server, responder, connections, callers };
}

const scanPaths = new Set(operations.filter(({ mayScan }) => mayScan).map(({ path }) => path));

/**
 * Returns the kind of a request, by its target only. A list without parameters is not a scan, because it is the first
 * page.
 */
export function classifyRequest({ url = '' }: Pick<IncomingMessage, 'url'>): RequestKind {
  const [path, query] = removeOrigin(url).split('?', 2) as [string, string?];
  if (isHealthProbe(path)) return 'probe';
  const route = path.replace(/\/$/, '');
  // A tool may scan. Which tool a message calls is not known yet.
  if (route === MCP_PATH) return 'scan';
  if (!query) return 'request';
  const routeWithId = route.replace(/^(\/[^/]+\/)[^/]+/, '$1{id}');
  return scanPaths.has(route) || scanPaths.has(routeWithId) ? 'scan' : 'request';
}

/** Creates the Express application with the routes of the API, MCP, the health probes and the documentation. */
function createExpressApp(services: HandlerServices, mcp: boolean): Express {
  const { responder } = services;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');

  // Express tries the routes in this order. Those of the API come first, because they get the most requests.
  for (const operation of operations) {
    const method = operation.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
    app[method](operation.path.replace('{id}', ':id'), createOperationHandler(operation, services));
  }
  if (mcp) serveMcp(app, services);
  serveHealthProbes(app, services);
  serveDocs(app, responder);
  app.use((request) => {
    throw createNotFoundError(request);
  });
  return app;
}

function createNotFoundError(request: IncomingMessage): HttpError {
  return new HttpError(
    'not_found',
    `The operation ${request.method} ${getPath(request)} does not exist. Check the method and the path.`,
  );
}

/**
 * Returns classes with which Node.js creates the requests and responses of an Express application.
 *
 * Express replaces the prototype of each request and response by `app.request` or `app.response`. That is slow, because
 * V8 then abandons the hidden class of the object (expressjs/express#5998). Instances of the returned classes have
 * these prototypes from the start, so replacing them changes nothing. A GET then takes less than half the processor
 * time.
 *
 * They must be classes: V8 turns an instance of a constructor function into a slow dictionary if it has as many
 * properties as a request or a response.
 */
function createMessageClasses(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response);
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
