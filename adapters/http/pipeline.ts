import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { type Caller, requirePermission } from '../../core/access/caller.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
import { IDEMPOTENCY_KEY } from '../../core/idempotency/idempotency.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Operation } from '../api/operation.ts';
import { addressOf } from './address.ts';
import { headerCount } from './connections.ts';
import { Deadline } from './deadline.ts';
import { HttpError, overloaded } from './errors.ts';
import type { LimitedAddresses } from './limited-addresses.ts';
import { pageLinks } from './link-header.ts';
import { readQuery } from './query-string.ts';
import { rateLimited, rateLimitHeaders } from './rate-limit-headers.ts';
import { fingerprint, type ReadBody } from './request-body.ts';
import type { Responder } from './responder.ts';

/** The timeout of a request: its waits in the queue and for its storage together. */
const REQUEST_DEADLINE_MS = 10_000;

/** What the pipeline works with. */
export interface PipelineServices {
  readonly app: Application;
  /** Counts the requests of a key. */
  readonly requestLimiter: RateLimiter;
  /** Counts the refused credentials of an address. */
  readonly refusalLimiter: RateLimiter;
  readonly limitedAddresses: LimitedAddresses;
  readonly readBody: ReadBody;
  readonly responder: Responder;
  /** Waits for something that takes no work of this service. Until then the request does not count as in flight. */
  whileWaiting<T>(response: ServerResponse, wait: Promise<T>): Promise<T>;
}

/**
 * Serves an operation. The order of the checks (decisions: Requests) is the order of the lines. A request whose body
 * turned out to be broken meanwhile has been answered (see connections.ts), and has no effect.
 */
export function handle(operation: Operation, service: PipelineServices): RequestHandler<{ id?: string }> {
  const { app: application, requestLimiter, readBody, responder } = service;
  return async (request, response) => {
    const context = responder.contextOf(response);
    context.route = operation.path;
    const time = new Deadline(REQUEST_DEADLINE_MS - (performance.now() - context.startedAt));
    const caller = await time.run(authenticate(request, response, service));
    context.workspaceId = caller.workspaceId;
    context.keyId = caller.keyId;
    const usage = await requestLimiter.consume(caller.keyId);
    if (response.headersSent) return;
    context.headers = rateLimitHeaders(usage, Date.now());
    if (!usage.allowed) throw rateLimited('requests with this key', usage);
    requirePermission(caller, operation.permission);
    const query = readQuery(request.url);
    const idempotencyKey = operation.method === 'POST' ? readIdempotencyKey(request) : undefined;
    const body = operation.body && (await readBody(request, response, caller.workspaceId));
    const work = operation.prepare(query, body);
    const id = request.params.id?.toLowerCase() ?? '';
    if (idempotencyKey !== undefined) {
      const { workspaceId, keyId } = caller;
      const once = { workspaceId, keyId, operationId: operation.id, idempotencyKey, fingerprint: fingerprint(body) };
      const reply = await time.run(application.runOnce(once, (app) => work(app, caller, id)));
      responder.send(response, reply.status, reply.body, reply.replayed ? ['Idempotency-Replayed', 'true'] : []);
    } else {
      const reply = await time.run(work(application, caller, id));
      if (operation.method === 'GET' && responder.areTooManyUnread(caller.workspaceId)) throw TOO_MANY_UNREAD_RESPONSES;
      const link = reply.hasNext === undefined ? undefined : pageLinks(operation.path, query, reply.hasNext);
      responder.send(response, reply.status, reply.body, link ? ['Link', link] : []);
    }
  };
}

/** What was only read is asked for again at no loss. */
const TOO_MANY_UNREAD_RESPONSES = overloaded(
  'Too many replies to your workspace have not been read: read them, or ask for fewer at once.',
);

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** Authenticates the caller. From an address over its limit, a valid key is served too, but a key that must be looked up is queued. */
async function authenticate(request: Request, response: ServerResponse, service: PipelineServices): Promise<Caller> {
  const { app: application, refusalLimiter, limitedAddresses, whileWaiting } = service;
  const { authorization } = request.headers;
  if (authorization === undefined) {
    throw new CoreError('unauthenticated', 'No key was sent: send one as "Authorization: Bearer <API_KEY>".');
  }
  if (headerCount(request, 'authorization') > 1) {
    throw new HttpError('bad_request', 'Two Authorization headers were sent: send one.');
  }
  const secret = BEARER.exec(authorization)?.[1] ?? '';
  const lookUp = () => application.apiKeys.authenticate(secret);
  const limited = limitedAddresses.find(() => addressOf(request));
  try {
    if (!limited || !application.apiKeys.needsLookup(secret)) return await lookUp();
    return await whileWaiting(response, limited.runLookup(lookUp));
  } catch (error) {
    if (error instanceof CoreError && error.kind === 'unauthenticated') {
      const address = addressOf(request);
      const usage = await refusalLimiter.consume(address);
      if (!usage.allowed) {
        limitedAddresses.add(address, usage);
        throw rateLimited('refused credentials from this address', usage);
      }
    }
    throw error;
  }
}

function readIdempotencyKey(request: Request): string | undefined {
  const key = request.get('Idempotency-Key');
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key;
  throw new HttpError('bad_request', 'The Idempotency-Key must be 1 to 255 visible ASCII characters, sent once.');
}
