/**
 * Returns whether a text is a URL (WHATWG), or a reference that is valid relative to `base`. Does not use the static
 * method `canParse`, which has a bug in Node 20 and 22. Once V8 has optimized a caller of `canParse`, `canParse` reads
 * Latin-1 text as UTF-8, and rejects valid URLs.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}

const URL_PARTS = /^(https?:\/\/)([^/?#\\]*)([^#]*)#?(.*)$/is;

/**
 * Returns an http(s) URL as a URI (RFC 3986) of ASCII characters, as `Location` sends it. Converts the host to ASCII,
 * and percent-encodes everything that a URI does not allow, such as a lone `%`. A URI is returned unchanged.
 */
export function encodeUrl(url: string): string {
  const [, scheme = '', host = '', path = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  const asciiHost = /^[!-$&-~]*$/.test(host) ? host : new URL(url).host;
  return [
    scheme,
    // Only an IP version 6 address has brackets.
    asciiHost.startsWith('[') ? asciiHost : percentEncode(asciiHost),
    // Otherwise, the encoded backslash would be a part of the host.
    path.startsWith('\\') ? '/' : '',
    percentEncode(path),
    url.includes('#') ? '#' : '',
    percentEncode(fragment).replaceAll('#', '%23'),
  ].join('');
}

/** Percent-encodes the characters that a URI does not allow, and each `%` that does not begin an encoded byte. */
function percentEncode(text: string): string {
  return encodeURI(text.toWellFormed()).replace(/%25(?=[0-9a-f]{2})/gi, '%');
}
