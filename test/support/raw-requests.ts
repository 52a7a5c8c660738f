import { once } from 'node:events';
import { connect } from 'node:net';
import type { Api, ApiResponse } from './service.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Sends bytes over a connection, optionally ends the client's side, and reads until the server closes the connection.
 */
export async function sendRaw(
  url: string,
  chunks: readonly (string | Buffer)[],
  shouldEnd: boolean,
): Promise<RawResponse[]> {
  return parseResponses(await readUntilClosed(url, chunks, shouldEnd));
}

async function readUntilClosed(url: string, chunks: readonly (string | Buffer)[], shouldEnd: boolean): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.on('error', () => socket.destroy());
  for (const chunk of chunks) socket.write(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk);
  if (shouldEnd) socket.end();
  socket.on('end', () => socket.end());
  await once(socket, 'close');
  return Buffer.concat(received);
}

/** Parses a stream of responses. Throws if it contains anything else. */
export function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
    if (status === undefined)
      throw new Error(`not a response: ${JSON.stringify(rest.toString('latin1').slice(0, 200))}`);
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(status === '100' ? 0 : headers.get('content-length'));
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length !== length) {
      throw new Error(`${body.length} of ${length} bytes: ${JSON.stringify(rest.toString('latin1', 0, 200))}`);
    }
    responses.push({ status: Number(status), headers, body: body.toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return responses;
}

export interface RawRequest {
  readonly method: string;
  /** The request target, sent without normalization. */
  readonly target: string;
  /** The bearer key. If it is missing, no `Authorization` header is sent. */
  readonly key?: string | null | undefined;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /**
   * The length of the body is sent as Content-Length, unless `headers` have a Content-Length or a Transfer-Encoding.
   */
  readonly body?: string | Uint8Array | undefined;
}

/** Sends a request unchanged over a new connection. `fetch` would reject or normalize it. */
export async function callRaw(
  { url }: Pick<Api, 'url'>,
  { method, target, key, headers = [], body }: RawRequest,
): Promise<ApiResponse> {
  const { host } = new URL(url);
  const bytes = Buffer.from(body ?? '');
  const isGiven = (...names: string[]) => headers.some(([name]) => names.includes(name.toLowerCase()));
  const all = [
    ...(isGiven('host') ? [] : [['Host', host]]),
    ['Connection', 'close'],
    ...(key ? [['Authorization', `Bearer ${key}`]] : []),
    ...headers,
    ...(body === undefined || isGiven('content-length', 'transfer-encoding')
      ? []
      : [['Content-Length', String(bytes.length)]]),
  ];
  const head = [`${method} ${target} HTTP/1.1`, ...all.map((pair) => pair.join(': ')), '', ''].join('\r\n');
  return parseResponse((await readUntilClosed(url, [head, bytes], false)).toString());
}

/** Returns a body in the chunks of `Transfer-Encoding: chunked`. */
export function chunked(body: string, size = 65_536): string {
  const pieces = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const chunks = pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
  return `${chunks.join('')}0\r\n\r\n`;
}

function parseResponse(response: string): ApiResponse {
  const end = response.indexOf('\r\n\r\n');
  const [first = '', ...lines] = response.slice(0, end).split('\r\n');
  const text = response.slice(end + 4);
  const headers = new Headers(lines.map((line) => /^(.*?): (.*)$/.exec(line)?.slice(1) as [string, string]));
  return { status: Number(first.split(' ')[1]), headers, text, json: text === '' ? undefined : JSON.parse(text) };
}
