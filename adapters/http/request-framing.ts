import type { IncomingMessage } from 'node:http';

/**
 * The maximum number of headers. Node's limit of 16 KiB counts only one of the four bytes of a header such as `a:\r\n`.
 * So a request of 64 KB with 16,000 such headers would pass the limit and take 400 KB of memory. With
 * `maxHeadersCount`, Node keeps only a few headers more than the maximum. These show `findFramingProblem` that the
 * request had too many.
 */
export const MAX_HEADER_COUNT = 200;

// Not `\s`: Node reads each byte of a header as a character, and the last byte of `à` in UTF-8 as a no-break space.
const HOST = /^[^ \t/?#@\\]*$/;

/**
 * Returns a message if a request must be rejected although Node parses it: it has too many headers, or its version,
 * `Host`, `Expect` or `Transfer-Encoding` is not valid or not supported. See RFC 9112, sections 2.3, 3.2 and 6.1, and
 * RFC 9110, section 10.1.1.
 */
export function findFramingProblem(request: IncomingMessage): string | undefined {
  const { httpVersionMajor, httpVersionMinor, rawHeaders, headers } = request;
  if (httpVersionMajor !== 1) return 'The HTTP version is not supported. Use HTTP/1.1 or HTTP/1.0.';
  if (rawHeaders.length > 2 * MAX_HEADER_COUNT) {
    return `The request has too many headers. Send at most ${MAX_HEADER_COUNT}.`;
  }
  const hostCount = getHeaderValues(request, 'host').length;
  if (hostCount > 1) return 'More than one Host header. Send exactly one.';
  if (hostCount === 0 && httpVersionMinor > 0) return 'No Host header. Send exactly one.';
  const { host = '', expect = '100-continue', 'transfer-encoding': coding } = headers;
  if (!HOST.test(host)) return 'The Host header is not valid. Send a host name, with a port if needed.';
  if (expect.toLowerCase() !== '100-continue') {
    return 'The Expect header is not supported. Send `100-continue` or no Expect header.';
  }
  if (coding === undefined) return undefined;
  if (httpVersionMinor === 0) return 'Transfer-Encoding is not allowed in HTTP/1.0. Send a Content-Length.';
  if (coding.toLowerCase() !== 'chunked') {
    return 'The Transfer-Encoding is not supported. Send `chunked` or a Content-Length.';
  }
  return undefined;
}

/**
 * Returns whether a request must be the last one of its connection, because a further request could not be read. A body
 * over the limit is not read to its end, and with the limit 0, no body is read. After a request with `Upgrade`, Node
 * does not continue reading where the next request starts.
 */
export function mustCloseAfter({ headers }: IncomingMessage, bodyLimit: number): boolean {
  const { upgrade, 'content-length': length = 0, 'transfer-encoding': coding } = headers;
  return upgrade !== undefined || Number(length) > bodyLimit || (bodyLimit === 0 && coding !== undefined);
}

/** Returns whether a request has a body, which may be empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * Returns all values of a header, in the order sent. For some headers, Node's `headers` has only the first of several
 * values.
 */
export function getHeaderValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[i + 1] as string);
  }
  return values;
}
