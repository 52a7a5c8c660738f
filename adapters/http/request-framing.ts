import type { IncomingMessage } from 'node:http';

/**
 * The maximum number of headers. Node's limit of 16 KiB counts only one of the four bytes of a header such as `a:\r\n`. So a request
 * of 64 KB with 16,000 such headers would pass the limit and take 400 KB of memory. With `maxHeadersCount`, Node keeps only a
 * few headers more than the maximum. These show `findFramingProblem` that the request had too many.
 */
export const MAX_HEADER_COUNT = 200;

const HOST = /^[^\s/?#@\\]*$/;

/**
 * Returns a message if a request must be rejected although Node parses it: it has too many headers, or its version, `Host`,
 * `Expect` or `Transfer-Encoding` is not valid or not supported. See RFC 9112, sections 2.3, 3.2 and 6.1, and RFC 9110, section 10.1.1.
 */
export function findFramingProblem(request: IncomingMessage): string | undefined {
  const { httpVersionMajor, httpVersionMinor, rawHeaders, headers } = request;
  if (httpVersionMajor !== 1) return 'The HTTP version is not supported: use HTTP/1.1 or HTTP/1.0.';
  if (rawHeaders.length > 2 * MAX_HEADER_COUNT) {
    return `The request has too many headers: send at most ${MAX_HEADER_COUNT}.`;
  }
  const hosts = countHeader(request, 'host');
  if (hosts > 1) return 'More than one Host header was sent: send exactly one.';
  if (hosts === 0 && httpVersionMinor > 0) return 'The Host header is missing: send exactly one.';
  const { host = '', expect = '100-continue', 'transfer-encoding': coding } = headers;
  if (!HOST.test(host)) return 'The Host header is not valid: send a host name, with a port if needed.';
  if (expect.toLowerCase() !== '100-continue') {
    return 'The Expect header is not supported: the only allowed value is 100-continue.';
  }
  if (coding === undefined) return undefined;
  if (httpVersionMinor === 0) return 'Transfer-Encoding is not allowed in HTTP/1.0: send a Content-Length.';
  if (coding.toLowerCase() !== 'chunked') {
    return 'The Transfer-Encoding is not supported: the only allowed value is chunked.';
  }
  return undefined;
}

/**
 * Returns whether a request must be the last one of its connection, because a further request could not be read. A body over the limit
 * is not read to its end, and with the limit 0, no body is read. After a request with `Upgrade`, Node does not continue reading where
 * the next request starts.
 */
export function mustCloseAfter({ headers }: IncomingMessage, bodyLimit: number): boolean {
  const { upgrade, 'content-length': length = 0, 'transfer-encoding': coding } = headers;
  return upgrade !== undefined || Number(length) > bodyLimit || (bodyLimit === 0 && coding !== undefined);
}

/** Counts how often a header was sent. For some headers, Node's `headers` has only the first of several values. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
