import type { Usage } from '../../core/access/rate-limiter.ts';
import type { ErrorCauseName } from '../api/errors.ts';
import type { RateLimitHeader } from '../api/openapi.ts';
import { HttpError } from './errors.ts';
import type { HeaderList } from './request-context.ts';

/**
 * Returns the headers that state the rate limit of a key and its usage: the common `X-RateLimit-…` headers, and those
 * of the IETF draft "RateLimit header fields for HTTP", version 10. `now` is the current time in milliseconds.
 */
export function createRateLimitHeaders(usage: Usage, now: number): HeaderList {
  const { limit, windowSeconds, remaining, resetsInMs } = usage;
  const headers: Record<RateLimitHeader, string> = {
    'X-RateLimit-Limit': `${limit}`,
    'X-RateLimit-Remaining': `${remaining}`,
    'X-RateLimit-Reset': `${Math.ceil((now + resetsInMs) / 1000)}`,
    'RateLimit-Policy': `"default";q=${limit};w=${windowSeconds}`,
    RateLimit: `"default";r=${remaining};t=${getSecondsUntilReset(usage)}`,
  };
  return Object.entries(headers).flat();
}

/** Creates the error for exceeding a limit, with `Retry-After`. `what` names the counted things, such as `requests`. */
export function createRateLimitError(what: string, usage: Usage, causeName?: ErrorCauseName): HttpError {
  const seconds = Math.max(1, getSecondsUntilReset(usage));
  const message = `Too many ${what}: at most ${usage.limit} in ${formatSeconds(usage.windowSeconds)}. Retry in ${formatSeconds(seconds)}.`;
  return new HttpError('rate_limit_exceeded', message, causeName, seconds);
}

function formatSeconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`;
}

function getSecondsUntilReset({ resetsInMs }: Usage): number {
  return Math.ceil(resetsInMs / 1000);
}
