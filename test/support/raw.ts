import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer, Api } from './service.ts';

export interface RawRequest {
  readonly method: string;
  /** The target as it stands in the first line: nothing is normalised. */
  readonly target: string;
  /** The bearer key; none where it is left out. */
  readonly key?: string | null | undefined;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Its length is sent as Content-Length, unless the headers frame it. */
  readonly body?: string | Uint8Array | undefined;
}

/** Sends a request as it stands over a socket of its own: what `fetch` would refuse or tidy up. */
export async function callRaw(
  { url }: Pick<Api, 'url'>,
  { method, target, key, headers = [], body }: RawRequest,
): Promise<Answer> {
  const { hostname, port, host } = new URL(url);
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
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
  await once(socket, 'close');
  return parsed(Buffer.concat(chunks).toString());
}

/** A body in chunks, to be sent with `Transfer-Encoding: chunked`. */
export function chunked(body: string, size = 65_536): string {
  const pieces = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const chunks = pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
  return `${chunks.join('')}0\r\n\r\n`;
}

function parsed(response: string): Answer {
  const end = response.indexOf('\r\n\r\n');
  const [first = '', ...lines] = response.slice(0, end).split('\r\n');
  const text = response.slice(end + 4);
  const headers = new Headers(lines.map((line) => /^(.*?): (.*)$/.exec(line)?.slice(1) as [string, string]));
  return { status: Number(first.split(' ')[1]), headers, text, json: text === '' ? undefined : JSON.parse(text) };
}
