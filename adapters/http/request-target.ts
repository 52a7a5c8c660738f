import type { IncomingMessage } from 'node:http';
import { isUrl } from '../api/url.ts';
import { HttpError } from './errors.ts';

/** The path of a request as it was sent, still encoded. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;

/** Leaves in `request.url` the path and the query of the target, of an absolute one too; or says what is wrong with it. */
export function readTarget(request: IncomingMessage): HttpError | undefined {
  const { url = '' } = request;
  if (url.includes('#')) return new HttpError('bad_request', 'The target of a request has no fragment: leave out "#".');
  if (!url.startsWith('/') && url !== '*') {
    if (!isUrl(url)) return new HttpError('bad_request', 'The target is neither a path nor a URL.');
    request.url = url.replace(SCHEME_AND_HOST, '').replace(/^(?!\/)/, '/');
  }
  try {
    decodeURIComponent(pathOf(request));
    return undefined;
  } catch {
    return new HttpError('bad_request', 'The path cannot be decoded: check its percent-encoding.');
  }
}
