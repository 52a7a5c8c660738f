import type { Request, RequestHandler, Response } from 'express';
import { requirePermission } from '../../core/access/permissions.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
import { getNextPage } from '../api/next-page.ts';
import type { Operation, OperationResult } from '../api/operation.ts';
import type { Authenticate } from './authentication.ts';
import { computeFingerprint, readIdempotencyKey } from './idempotency-key.ts';
import { formatPageLinks } from './link-header.ts';
import type { Protection } from './protection/protection.ts';
import { readQuery } from './query-string.ts';
import { createRateLimitError, createRateLimitHeaders } from './rate-limit-headers.ts';
import type { ReadBody } from './request-body.ts';
import { getRequestContext } from './request-context.ts';
import { RequestTimeout } from './request-timeout.ts';
import type { Responder } from './responder.ts';

/** The objects that the handler of an operation depends on. */
export interface HandlerServices {
  readonly app: Application;
  readonly authenticate: Authenticate;
  /** Counts the requests of a key. */
  readonly requestLimiter: RateLimiter;
  readonly readBody: ReadBody;
  readonly protection: Protection;
  readonly responder: Responder;
}

/**
 * Returns the request handler of an operation. The checks run in the order of the lines below, after those of
 * `admitRequest`: the first check that fails determines the response. If the body turns out to be malformed HTTP while
 * the handler runs, `connection-guard.ts` sends an error. An operation that takes a body then has no effect. Other
 * operations do not wait for a body, so they may take effect although the response is an error.
 */
export function createOperationHandler(
  operation: Operation,
  services: HandlerServices,
): RequestHandler<{ id?: string }> {
  const { readBody, responder } = services;
  return async (request, response) => {
    getRequestContext(response).route = operation.path;
    const admitted = await admitRequest(request, response, services);
    if (!admitted) return;
    const { caller, run } = admitted;
    requirePermission(caller, operation.permission);
    const query = readQuery(request.url);
    const idempotencyKey = operation.method === 'POST' ? readIdempotencyKey(request) : undefined;
    const body = operation.body && (await readBody(request, response, caller.workspaceId));
    const { id = '' } = request.params;
    const { hasNext, ...result } = await run(operation, { id, query, body, idempotencyKey });
    const after = hasNext && !('page' in operation.query.shape) ? getNextPage(result.body, 1).after : undefined;
    const link = hasNext !== undefined && formatPageLinks(getPath(operation, id), query, hasNext, after);
    const headers = link ? ['Link', link] : result.replayed ? ['Idempotency-Replayed', 'true'] : [];
    responder.send(response, result.status, result.body, headers);
  };
}

/** The input of an operation. The ID is empty if the path has none. */
interface RequestInput {
  readonly id: string;
  readonly query: object;
  readonly body: object | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Authenticates the caller of a request, and counts the request. Rejects if the key is invalid or over its limit, or if
 * the workspace uses too much memory. Otherwise resolves to the caller and a function that validates the input of an
 * operation and runs it, for which the caller must have the permission. Resolves to `undefined` if the request has a
 * response already.
 */
export async function admitRequest(
  request: Request,
  response: Response,
  { app, authenticate, requestLimiter, protection }: HandlerServices,
) {
  const context = getRequestContext(response);
  const timeout = new RequestTimeout(context.startedAt);
  const caller = await timeout.run(authenticate(request));
  const { workspaceId, keyId } = caller;
  context.workspaceId = workspaceId;
  context.keyId = keyId;
  context.memberId = caller.member?.id;
  const usage = await requestLimiter.consume(keyId);
  // `connection-guard.ts` has rejected the request meanwhile.
  if (response.headersSent) return undefined;
  context.headers = createRateLimitHeaders(usage, Date.now());
  if (!usage.allowed) throw createRateLimitError('requests with this key', usage);
  const memoryError = protection.memory.findError(workspaceId);
  if (memoryError) throw memoryError;
  // After a timeout, the response has been sent.
  const isAbandoned = () => response.destroyed || response.headersSent;

  const start = (operation: Operation, { id, query, body, idempotencyKey }: RequestInput): Promise<OperationResult> => {
    const work = operation.prepare(query, body);
    if (idempotencyKey === undefined) return work(app, caller, id, isAbandoned);
    const fingerprint = computeFingerprint([operation.method, getPath(operation, id), body ?? null]);
    const { lostSecretRemedy, externalTimeoutMs } = operation;
    const idempotencyKeyName = 'Idempotency-Key';
    return app.runOnce(
      { workspaceId, keyId, idempotencyKey, idempotencyKeyName, fingerprint, lostSecretRemedy },
      (transactionApp) => work(transactionApp, caller, id),
      externalTimeoutMs === 0,
    );
  };
  const run = async (operation: Operation, input: RequestInput): Promise<OperationResult> => {
    const { externalTimeoutMs } = operation;
    const running = start(operation, input);
    // Requests that wait for other servers must not keep the others from the storage.
    const settled = externalTimeoutMs > 0 ? protection.awaitOutsideInFlightCount(response, running) : running;
    const result = await timeout.run(settled, externalTimeoutMs);
    context.recordId = result.recordId;
    return result;
  };
  return { caller, run };
}

function getPath({ path }: Operation, id: string): string {
  return path.replace('{id}', () => id.toLowerCase());
}
