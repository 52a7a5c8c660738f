import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { type Caller, requirePermission } from '../../core/access/caller.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
import { IDEMPOTENCY_KEY_LENGTH, IDEMPOTENCY_KEY_PATTERN } from '../../core/idempotency/idempotency.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { STORAGE_TIMEOUT_MS } from '../../core/storage.ts';
import type { Operation } from '../api/operation.ts';
import { getClientAddress } from './client-address.ts';
import { Deadline } from './deadline.ts';
import { HttpError } from './errors.ts';
import { formatPageLinks } from './link-header.ts';
import type { Protection } from './protection/protection.ts';
import { readQuery } from './query-string.ts';
import { createRateLimitError, createRateLimitHeaders } from './rate-limit-headers.ts';
import { computeFingerprint, type ReadBody } from './request-body.ts';
import { countHeader } from './request-framing.ts';
import { getRequestContext, type Responder } from './responder.ts';

/** The objects that the handler of an operation depends on. */
export interface HandlerServices {
  readonly app: Application;
  /** Counts the requests of a key. */
  readonly requestLimiter: RateLimiter;
  /** Counts the rejected credentials of an address. */
  readonly rejectedCredentialLimiter: RateLimiter;
  readonly protection: Protection;
  readonly readBody: ReadBody;
  readonly responder: Responder;
}

/**
 * Returns the request handler of an operation. Its checks run in the order of its lines: the first check that fails
 * determines the response. If the body turns out to be malformed HTTP while the handler runs, `connection-guard.ts` sends the
 * response. The request then has no effect, unless its operation has no body and has already begun its work.
 */
export function createOperationHandler(
  operation: Operation,
  services: HandlerServices,
): RequestHandler<{ id?: string }> {
  const { app, requestLimiter, protection, readBody, responder } = services;
  return async (request, response) => {
    const context = getRequestContext(response);
    context.route = operation.path;
    // The deadline includes the time in the queue, but not the time to read the body: only `deadline.run` uses it up.
    const deadline = new Deadline(STORAGE_TIMEOUT_MS - (performance.now() - context.startedAt));
    const caller = await deadline.run(authenticate(request, response, services));
    context.workspaceId = caller.workspaceId;
    context.keyId = caller.keyId;
    const usage = await requestLimiter.consume(caller.keyId);
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
    const id = request.params.id?.toLowerCase() ?? '';
    if (idempotencyKey !== undefined) {
      const { workspaceId, keyId } = caller;
      const idempotentRequest = {
        workspaceId,
        keyId,
        operationId: operation.id,
        idempotencyKey,
        keyName: 'Idempotency-Key',
        // The ID is the only part of the path that requests to the same operation can differ in.
        fingerprint: computeFingerprint(id === '' ? body : [id, body ?? null]),
      };
      const result = await deadline.run(
        app.runOnce(idempotentRequest, (transactionApp) => work(transactionApp, caller, id)),
      );
      responder.send(response, result.status, result.body, result.replayed ? ['Idempotency-Replayed', 'true'] : []);
    } else {
      const result = await deadline.run(work(app, caller, id));
      const path = operation.path.replace('{id}', id);
      const link = result.hasNext === undefined ? undefined : formatPageLinks(path, query, result.hasNext);
      responder.send(response, result.status, result.body, link ? ['Link', link] : []);
    }
  };
}

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Authenticates the caller. Counts rejected credentials by the address of the client. If an address is over its limit of rejected
 * credentials, valid keys from it are still accepted. But keys that are not cached are then looked up one after another.
 */
async function authenticate(request: Request, response: ServerResponse, services: HandlerServices): Promise<Caller> {
  const { app, rejectedCredentialLimiter, protection } = services;
  const { limitedAddresses } = protection;
  const { authorization } = request.headers;
  if (authorization === undefined) {
    throw new CoreError('unauthenticated', 'No key was sent: send one as "Authorization: Bearer <API_KEY>".');
  }
  if (countHeader(request, 'authorization') > 1) {
    throw new HttpError('bad_request', 'More than one Authorization header was sent: send exactly one.');
  }
  const secret = BEARER.exec(authorization)?.[1] ?? '';
  const lookUp = () => app.apiKeys.authenticate(secret);
  const limitedAddress = limitedAddresses.find(() => getClientAddress(request));
  try {
    if (!limitedAddress || !app.apiKeys.needsLookup(secret)) return await lookUp();
    return await protection.excludeFromInFlight(response, limitedAddress.runLookup(lookUp));
  } catch (error) {
    if (error instanceof CoreError && error.kind === 'unauthenticated') {
      const address = getClientAddress(request);
      const usage = await rejectedCredentialLimiter.consume(address);
      if (!usage.allowed) {
        limitedAddresses.add(address, usage);
        throw createRateLimitError('rejected credentials from this address', usage);
      }
    }
    throw error;
  }
}

function readIdempotencyKey(request: Request): string | undefined {
  const key = request.get('Idempotency-Key');
  if (key === undefined || IDEMPOTENCY_KEY_PATTERN.test(key)) return key;
  const { min, max } = IDEMPOTENCY_KEY_LENGTH;
  throw new HttpError(
    'bad_request',
    `The Idempotency-Key header must be sent once and have ${min} to ${max} visible ASCII characters.`,
  );
}
