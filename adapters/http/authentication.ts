import type { Request } from 'express';
import type { AuthenticatedCaller } from '../../core/access/permissions.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { errors } from '../api/errors.ts';
import type { ApiKeyCache } from './api-key-cache.ts';
import { getClientAddress } from './client-address.ts';
import { HttpError } from './errors.ts';
import { createRateLimitError } from './rate-limit-headers.ts';
import { getHeaderValues } from './request-framing.ts';

/** The objects that authentication depends on. */
export interface AuthenticationServices {
  readonly callers: ApiKeyCache;
  /** Counts the rejected credentials of an address. */
  readonly rejectedCredentialLimiter: RateLimiter;
}

/**
 * Authenticates the caller of a request. Rejects with an `HttpError`, or with an error of the core such as
 * `unauthenticated`.
 */
export type Authenticate = (request: Request) => Promise<AuthenticatedCaller>;

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** Returns a function that authenticates callers. It counts rejected credentials by the address of the client. */
export function createAuthenticator({ callers, rejectedCredentialLimiter }: AuthenticationServices): Authenticate {
  return async (request) => {
    const secret = readSecret(request);
    try {
      return await callers.authenticate(secret);
    } catch (error) {
      if (!(error instanceof CoreError) || error.kind !== 'unauthenticated') throw error;
      const usage = await rejectedCredentialLimiter.consume(getClientAddress(request));
      throw usage.allowed
        ? error
        : createRateLimitError('rejected credentials from this address', usage, 'rejected_credentials');
    }
  };
}

/**
 * Returns the secret of the `Authorization` header, or an empty string if the header does not have the form `Bearer
 * SECRET`.
 */
function readSecret(request: Request): string {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    throw new CoreError('unauthenticated', errors.unauthorized.example);
  }
  if (getHeaderValues(request, 'authorization').length > 1) {
    throw new HttpError('bad_request', 'More than one Authorization header. Send exactly one.');
  }
  return BEARER.exec(authorization)?.[1] ?? '';
}
