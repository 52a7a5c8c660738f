import type { RequestHandler } from 'express';
import { requirePermission } from '../../core/access/permissions.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
import type { Operation } from '../api/operation.ts';
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
 * Returns the request handler of an operation. The checks run in the order of the lines below: the first check that
 * fails determines the response. If the body turns out to be malformed HTTP while the handler runs,
 * `connection-guard.ts` sends an error. An operation that takes a body then has no effect. Other operations do not wait
 * for a body, so they may take effect although the response is an error.
 */
export function createOperationHandler(
  operation: Operation,
  services: HandlerServices,
): RequestHandler<{ id?: string }> {
  const { app, authenticate, requestLimiter, readBody, protection, responder } = services;
  const isExternal = operation.externalTimeoutMs > 0;
  return async (request, response) => {
    const context = getRequestContext(response);
    context.route = operation.path;
    const timeout = new RequestTimeout(context.startedAt, operation.externalTimeoutMs);
    const caller = await timeout.run(authenticate(request));
    context.workspaceId = caller.workspaceId;
    context.keyId = caller.keyId;
    context.memberId = caller.member?.id;
    const usage = await requestLimiter.consume(caller.keyId);
    // `connection-guard.ts` has rejected the request meanwhile.
    if (response.headersSent) return;
    context.headers = createRateLimitHeaders(usage, Date.now());
    if (!usage.allowed) throw createRateLimitError('requests with this key', usage);
    const memoryError = protection.memory.findError(caller.workspaceId);
    if (memoryError) throw memoryError;
    requirePermission(caller, operation.permission);
    const query = readQuery(request.url);
    const idempotencyKey = operation.method === 'POST' ? readIdempotencyKey(request) : undefined;
    const body = operation.body && (await readBody(request, response, caller.workspaceId));
    const work = operation.prepare(query, body);
    const { id = '' } = request.params;
    const path = operation.path.replace('{id}', () => id.toLowerCase());
    // Requests that wait for other servers must not keep the others from the storage.
    const run = <T>(running: Promise<T>): Promise<T> =>
      timeout.run(isExternal ? protection.awaitOutsideInFlightCount(response, running) : running);
    if (idempotencyKey !== undefined) {
      const { workspaceId, keyId } = caller;
      const idempotentRequest = {
        workspaceId,
        keyId,
        idempotencyKey,
        idempotencyKeyName: 'Idempotency-Key',
        fingerprint: computeFingerprint([operation.method, path, body ?? null]),
        lostSecretRemedy: operation.lostSecretRemedy,
      };
      const result = await run(
        app.runOnce(idempotentRequest, (transactionApp) => work(transactionApp, caller, id), !isExternal),
      );
      context.recordId = result.recordId;
      responder.send(response, result.status, result.body, result.replayed ? ['Idempotency-Replayed', 'true'] : []);
    } else {
      // After a timeout, the response has been sent.
      const isAbandoned = () => response.destroyed || response.headersSent;
      const result = await run(work(app, caller, id, isAbandoned));
      context.recordId = result.recordId;
      const link = result.hasNext === undefined ? undefined : formatPageLinks(path, query, result.hasNext);
      responder.send(response, result.status, result.body, link ? ['Link', link] : []);
    }
  };
}
