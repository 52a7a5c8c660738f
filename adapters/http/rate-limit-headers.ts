import type { Usage } from '../../core/access/rate-limiter.ts';
import { HttpError } from './errors.ts';
import type { Headers } from './responder.ts';

/** What is left of a key's limit at a moment, as headers: the usual ones and those of IETF draft 10. */
export function rateLimitHeaders(usage: Usage, now: number): Headers {
  const { limit, windowSeconds, remaining, resetsInMs } = usage;
  return [
    ...['X-RateLimit-Limit', `${limit}`],
    ...['X-RateLimit-Remaining', `${remaining}`],
    ...['X-RateLimit-Reset', `${Math.ceil((now + resetsInMs) / 1000)}`],
    ...['RateLimit-Policy', `"default";q=${limit};w=${windowSeconds}`],
    ...['RateLimit', `"default";r=${remaining};t=${secondsLeft(usage)}`],
  ];
}

/** The refusal of what goes over a limit, with the time to wait. */
export function rateLimited(what: string, usage: Usage): HttpError {
  const seconds = Math.max(1, secondsLeft(usage));
  const message = `Too many ${what}: at most ${usage.limit} in ${usage.windowSeconds} seconds. Try again in ${seconds} seconds.`;
  return new HttpError('rate_limit_exceeded', message, ['Retry-After', String(seconds)]);
}

function secondsLeft({ resetsInMs }: Usage): number {
  return Math.ceil(resetsInMs / 1000);
}
