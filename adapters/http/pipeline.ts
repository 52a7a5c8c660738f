import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { type Caller, permit } from '../../core/access/caller.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
import { IDEMPOTENCY_KEY } from '../../core/idempotency/idempotency.ts';
import { DomainError } from '../../core/shared/error.ts';
import type { Operation } from '../api/operation.ts';
import { addressOf } from './address.ts';
import { headerCount } from './connections.ts';
import { HttpError, tooMuchNow } from './errors.ts';
import type { LimitedAddresses } from './limited-addresses.ts';
import { limitHeaders, tooMany } from './limits.ts';
import { pageLinks } from './page-links.ts';
import type { Replies } from './replies.ts';
import { TimeLimit } from './time-limit.ts';
import { fingerprint, type ReadBody, readQuery } from './wire.ts';

/** The timeout of a request: its waits in the queue and for its storage together. */
const WORKS_FOR_MS = 10_000;

/** What the pipeline works with. */
export interface Service {
  readonly application: Application;
  /** Counts the requests of a key. */
  readonly requests: RateLimiter;
  /** Counts the refused credentials of an address. */
  readonly refusals: RateLimiter;
  readonly limitedAddresses: LimitedAddresses;
  readonly readBody: ReadBody;
  readonly replies: Replies;
  /** Waits for something that takes no work of this service. Until then the request does not count as in flight. */
  whileWaiting<T>(response: ServerResponse, wait: Promise<T>): Promise<T>;
}

/**
 * Serves an operation. The order of the checks (decisions: Requests) is the order of the lines. A request whose body
 * turned out to be broken meanwhile has been answered (see connections.ts), and has no effect.
 */
export function serve(operation: Operation, service: Service): RequestHandler<{ id?: string }> {
  const { application, requests, readBody, replies } = service;
  return async (request, response) => {
    const exchange = replies.exchangeOf(response);
    exchange.route = operation.path;
    const time = new TimeLimit(WORKS_FOR_MS - (performance.now() - exchange.startedAt));
    const caller = await time.with(authenticate(request, response, service));
    exchange.workspaceId = caller.workspaceId;
    exchange.keyId = caller.keyId;
    const usage = await requests.consume(caller.keyId);
    if (response.headersSent) return;
    exchange.headers = limitHeaders(usage, Date.now());
    if (!usage.allowed) throw tooMany('requests with this key', usage);
    permit(caller, operation.permission);
    const query = readQuery(request.url);
    const idempotencyKey = operation.method === 'POST' ? readIdempotencyKey(request) : undefined;
    const body = operation.body && (await readBody(request, response, caller.workspaceId));
    const work = operation.prepare(query, body);
    const id = request.params.id?.toLowerCase() ?? '';
    if (idempotencyKey !== undefined) {
      const { workspaceId, keyId } = caller;
      const once = { workspaceId, keyId, operationId: operation.id, idempotencyKey, fingerprint: fingerprint(body) };
      const reply = await time.with(application.once(once, (use) => work(use, caller, id)));
      replies.send(response, reply.status, reply.body, reply.replayed ? ['Idempotency-Replayed', 'true'] : []);
    } else {
      const reply = await time.with(work(application, caller, id));
      if (operation.method === 'GET' && replies.areTooManyUnread(caller.workspaceId)) throw TOO_MANY_UNREAD;
      const link = reply.hasNext === undefined ? undefined : pageLinks(operation.path, query, reply.hasNext);
      replies.send(response, reply.status, reply.body, link ? ['Link', link] : []);
    }
  };
}

/** What was only read is asked for again at no loss. */
const TOO_MANY_UNREAD = tooMuchNow(
  'Too many replies to your workspace have not been read: read them, or ask for fewer at once.',
);

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** Authenticates the caller. From an address over its limit, a valid key is served too, but a key that must be looked up is queued. */
async function authenticate(request: Request, response: ServerResponse, service: Service): Promise<Caller> {
  const { application, refusals, limitedAddresses, whileWaiting } = service;
  const { authorization } = request.headers;
  if (authorization === undefined) {
    throw new DomainError('unauthenticated', 'No key was sent: send one as "Authorization: Bearer <API_KEY>".');
  }
  if (headerCount(request, 'authorization') > 1) {
    throw new HttpError('bad_request', 'Two Authorization headers were sent: send one.');
  }
  const secret = BEARER.exec(authorization)?.[1] ?? '';
  const lookUp = () => application.apiKeys.authenticate(secret);
  const limited = limitedAddresses.find(() => addressOf(request));
  try {
    if (!limited || !application.apiKeys.needsLookUp(secret)) return await lookUp();
    return await whileWaiting(response, limited.lookUp(lookUp));
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unauthenticated') {
      const address = addressOf(request);
      const usage = await refusals.consume(address);
      if (!usage.allowed) {
        limitedAddresses.add(address, usage);
        throw tooMany('refused credentials from this address', usage);
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
