import type { IncomingMessage } from 'node:http';
import { isUrl } from '../api/url.ts';

/** Returns the path of a request as it was sent, still percent-encoded. */
export function getPath({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

/** Matches the scheme and the authority of an absolute URL. */
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;

/**
 * Sets `request.url` to the path and query of the request target, which may be an absolute URL (RFC 9112, section 3.2).
 * Returns a message if the target is invalid.
 */
export function normalizeTargetOrFindProblem(request: IncomingMessage): string | undefined {
  const { url = '' } = request;
  if (url.includes('#')) return 'The request target must not have a fragment: remove "#" and what follows it.';
  if (!url.startsWith('/') && url !== '*') {
    if (!isUrl(url)) return 'The request target must be a path or a URL.';
    request.url = url.replace(SCHEME_AND_HOST, '').replace(/^(?!\/)/, '/');
  }
  try {
    decodeURIComponent(getPath(request));
    return undefined;
  } catch {
    return 'The path cannot be decoded: check its percent-encoding.';
  }
}
