import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Caller } from '../../core/access/caller.ts';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { getClientAddress } from './client-address.ts';
import { HttpError } from './errors.ts';
import { LimitedAddresses, type Protection } from './protection/protection.ts';
import { createRateLimitError } from './rate-limit-headers.ts';
import { countHeader } from './request-framing.ts';

/** The objects that authentication depends on. */
export interface AuthenticationServices {
  readonly app: Application;
  /** Counts the rejected credentials of an address. */
  readonly rejectedCredentialLimiter: RateLimiter;
}

/** Authenticates the caller of a request. Rejects with an `HttpError`, or with an error of the core such as `unauthenticated`. */
export type Authenticate = (request: Request, response: ServerResponse) => Promise<Caller>;

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Returns a function that authenticates callers. It counts rejected credentials by the address of the client. If an address is over
 * its limit of rejected credentials, valid keys from this address are still accepted. But keys that are not cached are then looked up
 * one after another, and rejected with 429 if too many keys wait.
 */
export function createAuthenticator(
  { app, rejectedCredentialLimiter }: AuthenticationServices,
  protection: Protection,
): Authenticate {
  const limitedAddresses = new LimitedAddresses();
  return async (request, response) => {
    const secret = readSecret(request);
    const lookUp = () => app.apiKeys.authenticate(secret);
    const limitedAddress = limitedAddresses.findByAddress(() => getClientAddress(request));
    try {
      if (!limitedAddress || !app.apiKeys.isFirstLookup(secret)) return await lookUp();
      return await protection.awaitOutsideInFlightCount(response, limitedAddress.runLookup(lookUp));
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
  };
}

/** Returns the secret of the `Authorization` header, or an empty string if the header does not have the form `Bearer SECRET`. */
function readSecret(request: Request): string {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    throw new CoreError('unauthenticated', 'No key was sent: send one as "Authorization: Bearer <API_KEY>".');
  }
  if (countHeader(request, 'authorization') > 1) {
    throw new HttpError('bad_request', 'More than one Authorization header was sent: send exactly one.');
  }
  return BEARER.exec(authorization)?.[1] ?? '';
}
