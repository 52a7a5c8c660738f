import type { Request, RequestHandler, Response } from 'express';
import { type AuthenticatedCaller, requirePermission } from '../../core/access/permissions.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
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
 * Returns the request handler of an operation. The checks run in the order of the lines below, and of the lines of
 * `admitCaller`: the first check that fails determines the response. If the body turns out to be malformed HTTP while
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
    const admitted = await admitCaller(request, response, services);
    if (!admitted) return;
    const { workspaceId } = admitted.caller;
    requirePermission(admitted.caller, operation.permission);
    const query = readQuery(request.url);
    const idempotencyKey = operation.method === 'POST' ? readIdempotencyKey(request) : undefined;
    const body = operation.body && (await readBody(request, response, workspaceId));
    const input = { id: request.params.id ?? '', query, body, idempotencyKey };
    const {
      status,
      body: text,
      hasNext,
      replayed,
    } = await runOperation(operation, input, response, admitted, services);
    const link =
      hasNext === undefined ? undefined : formatPageLinks(getOperationPath(operation, input.id), query, hasNext);
    const headers = [...(link ? ['Link', link] : []), ...(replayed ? ['Idempotency-Replayed', 'true'] : [])];
    responder.send(response, status, text, headers);
  };
}

/** The caller of a request, and the timeout of the request. */
export interface AdmittedRequest {
  readonly caller: AuthenticatedCaller;
  readonly timeout: RequestTimeout;
}

/**
 * Authenticates the caller of a request, and counts the request. Rejects if the key is invalid or over its limit, or if
 * the workspace uses too much memory. Resolves to `undefined` if the request has its response already.
 */
export async function admitCaller(
  request: Request,
  response: Response,
  { authenticate, requestLimiter, protection }: HandlerServices,
): Promise<AdmittedRequest | undefined> {
  const context = getRequestContext(response);
  const timeout = new RequestTimeout(context.startedAt);
  const caller = await timeout.run(authenticate(request));
  context.workspaceId = caller.workspaceId;
  context.keyId = caller.keyId;
  context.memberId = caller.member?.id;
  const usage = await requestLimiter.consume(caller.keyId);
  // `connection-guard.ts` has rejected the request meanwhile.
  if (response.headersSent) return undefined;
  context.headers = createRateLimitHeaders(usage, Date.now());
  if (!usage.allowed) throw createRateLimitError('requests with this key', usage);
  const memoryError = protection.memory.findError(caller.workspaceId);
  if (memoryError) throw memoryError;
  return { caller, timeout };
}

/** The input of an operation. The ID is empty if the path has none. */
export interface RequestInput {
  readonly id: string;
  readonly query: object;
  readonly body: object | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Validates the input of an operation, and runs the operation for a caller who has its permission. */
export async function runOperation(
  operation: Operation,
  { id, query, body, idempotencyKey }: RequestInput,
  response: Response,
  { caller, timeout }: AdmittedRequest,
  { app, protection }: HandlerServices,
): Promise<OperationResult & { readonly replayed?: boolean }> {
  const { method, externalTimeoutMs, lostSecretRemedy } = operation;
  const isExternal = externalTimeoutMs > 0;
  const work = operation.prepare(query, body);
  const start = () => {
    // After a timeout, the response has been sent.
    const isAbandoned = () => response.destroyed || response.headersSent;
    if (idempotencyKey === undefined) return work(app, caller, id, isAbandoned);
    const { workspaceId, keyId } = caller;
    const idempotentRequest = {
      workspaceId,
      keyId,
      idempotencyKey,
      idempotencyKeyName: 'Idempotency-Key',
      fingerprint: computeFingerprint([method, getOperationPath(operation, id), body ?? null]),
      lostSecretRemedy,
    };
    return app.runOnce(idempotentRequest, (transactionApp) => work(transactionApp, caller, id), !isExternal);
  };
  const running: Promise<OperationResult & { readonly replayed?: boolean }> = start();
  // Requests that wait for other servers must not keep the others from the storage.
  const settled = isExternal ? protection.awaitOutsideInFlightCount(response, running) : running;
  const result = await timeout.run(settled, externalTimeoutMs);
  getRequestContext(response).recordId = result.recordId;
  return result;
}

function getOperationPath({ path }: Operation, id: string): string {
  return path.replace('{id}', () => id.toLowerCase());
}
