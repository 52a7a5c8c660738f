import type { IncomingMessage } from 'node:http';
import { isUrl } from '../api/url.ts';

/** Returns the path of a request as it was sent, still percent-encoded. */
export function getPath({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

/** Matches the scheme and the authority of an absolute URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;
/** A host name has at most 253 characters. Parsing a longer one takes time that is quadratic in its length (IDNA). */
const MAX_ORIGIN_LENGTH = 300;

/** Returns the path and query of a request target, which may be an absolute URL (RFC 9112, section 3.2). */
export function removeOrigin(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  return target.replace(ORIGIN, '').replace(/^(?!\/)/, '/');
}

/** Sets `request.url` to the path and query of the request target. Returns a message if the target is invalid. */
export function normalizeTargetOrFindProblem(request: IncomingMessage): string | undefined {
  const { url = '' } = request;
  if (url.includes('#')) return 'The request target has a fragment. Remove "#" and the text after it.';
  const target = removeOrigin(url);
  if (target !== url) {
    const [origin = ''] = ORIGIN.exec(url) ?? [];
    if (origin.length > MAX_ORIGIN_LENGTH || !isUrl(url))
      return 'The request target is not valid. Send a path or a URL.';
    request.url = target;
  }
  try {
    decodeURIComponent(getPath(request));
    return undefined;
  } catch {
    return 'The path cannot be decoded. Check its percent-encoding.';
  }
}
