import type { IncomingMessage } from 'node:http';
import { domainToASCII } from 'node:url';
import { normalizeSlug } from '../../core/domain/domain.ts';
import { isLinkKey } from '../../core/link/link.ts';
import type { LinkHost } from '../../core/link/link-service.ts';
import { BASE62 } from '../../core/shared/base62.ts';

/** The host and the key of the short link that a request asks for. */
export interface LinkRequest {
  readonly host: LinkHost;
  /** The key of the link, if the path is exactly `/{key}`. */
  readonly key: string | undefined;
  /** Whether the path is `/` and a word of base62 characters. Many such requests for unknown links may be an attempt to guess keys. */
  readonly looksLikeLink: boolean;
}

const ABSOLUTE_URL = /^https?:\/\/([^/?#]*)([^?#]*)/i;
const PATH_OF_WORD = new RegExp(`^/[${BASE62}]+$`);

/**
 * Reads the target of a request. An absolute URL as the request target takes precedence over `Host` (RFC 9112, section 3.2.2).
 * `parseHost` is `parseLinkHost` for the base host of the server.
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

/** Returns the slug of an authority, and whether its host is `baseHost`, the host of `LinkSettings.baseUrl`. */
export function parseLinkHost(authority: string, baseHost: string | undefined): LinkHost {
  const name = parseHostName(authority);
  return { slug: normalizeSlug(name, domainToASCII), isBase: name !== '' && name === baseHost };
}

/** Returns the host name of an authority: without user, port and trailing dot, in lower case. It can be an address, such as `[::1]`. */
export function parseHostName(authority: string): string {
  // Node reads each byte of a header as a character. Some clients send an internationalized name in UTF-8.
  const text = Buffer.from(authority, 'latin1').toString();
  const name = text.replace(/^.*@/, '').replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  return domainToASCII(name) || name;
}
