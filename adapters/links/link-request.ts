import type { IncomingMessage } from 'node:http';
import { domainToASCII } from 'node:url';
import { LRUCache } from 'lru-cache';
import { normalizeSlug } from '../../core/domain/domain.ts';
import { isLinkKey } from '../../core/link/link.ts';
import type { LinkHost, LinkUrl } from '../../core/link/link-service.ts';
import { BASE62 } from '../../core/shared/base62.ts';
import { encodeUrl } from '../api/url.ts';

/** The host and the key of the short link that a request asks for. */
export interface LinkRequest {
  readonly host: LinkHost;
  /** The key of the link, if the path is exactly `/{key}`. */
  readonly key: string | undefined;
  /**
   * Whether the path is `/` and a word of base62 characters. Many such requests for unknown links may be an attempt to
   * guess keys.
   */
  readonly looksLikeLink: boolean;
}

const ABSOLUTE_URL = /^https?:\/\/([^/?#]*)([^?#]*)/i;
const PATH_OF_WORD = new RegExp(`^/[${BASE62}]+$`);
/** The maximum number of characters of a host name. Longer ones cannot exist, and their conversion would be slow. */
const MAX_HOST_NAME_LENGTH = 253;
/** The maximum numbers of characters of the cached hosts, and of the cached URLs before and after they are encoded. */
const MAX_HOST_CACHE_SIZE = 100_000;
const MAX_URL_CACHE_SIZE = 10_000_000;
/** The maximum number of bytes of an authority with such a host name in UTF-8. */
const MAX_AUTHORITY_BYTES = 4 * MAX_HOST_NAME_LENGTH + ':65535'.length;

/**
 * Reads the target of a request. An absolute URL as the request target takes precedence over `Host` (RFC 9112, section
 * 3.2.2).
 */
export function parseLinkRequest(
  { url = '', headers }: IncomingMessage,
  parseHost: (authority: string) => LinkHost,
): LinkRequest {
  const [, authority = headers.host ?? '', absolutePath] = ABSOLUTE_URL.exec(url) ?? [];
  const path = absolutePath ?? (url.split('?', 1)[0] as string);
  const word = path.slice(1);
  return {
    host: parseHost(authority),
    key: path.startsWith('/') && isLinkKey(word) ? word : undefined,
    looksLikeLink: PATH_OF_WORD.test(path),
  };
}

/** Returns functions that parse hosts and the URLs of campaigns and domains, and cache the results. */
export function createParsers(baseHost: string | undefined) {
  const hosts = new LRUCache<string, LinkHost>({
    maxSize: MAX_HOST_CACHE_SIZE,
    sizeCalculation: (_, authority) => authority.length + 1,
    memoMethod: (authority) => parseLinkHost(authority, baseHost),
  });
  const urls = new LRUCache<string, LinkUrl>({
    maxSize: MAX_URL_CACHE_SIZE,
    sizeCalculation: ({ uri }, url) => url.length + uri.length,
    memoMethod: (url) => ({ uri: encodeUrl(url), host: parseLinkHost(new URL(url).host, baseHost) }),
  });
  return { parseHost: (authority: string) => hosts.memo(authority), parseUrl: (url: string) => urls.memo(url) };
}

/**
 * Returns the host of an authority: without user, port and one trailing dot, in ASCII and in lower case. The name is
 * empty if it is too long.
 */
export function parseLinkHost(authority: string, baseHost: string | undefined): LinkHost {
  // Node reads each byte of a header as a character. Some clients send an internationalized name in UTF-8.
  const text = authority.length > MAX_AUTHORITY_BYTES ? '' : Buffer.from(authority, 'latin1').toString();
  const host = text.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase();
  if ([...host].length > MAX_HOST_NAME_LENGTH + '.'.length) return { name: '', slug: undefined, isBase: false };
  const name = (domainToASCII(host) || host).replace(/\.$/, '');
  return { name, slug: normalizeSlug(host, domainToASCII), isBase: name !== '' && name === baseHost };
}
