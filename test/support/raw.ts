import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends bytes over a connection, ends our side where that is asked, and reads until the server closes it. */
export async function converse(
  url: string,
  chunks: readonly (string | Buffer)[],
  endOurSide: boolean,
): Promise<RawReply[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.on('error', () => socket.destroy());
  for (const chunk of chunks) socket.write(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk);
  if (endOurSide) socket.end();
  socket.on('end', () => socket.end());
  await once(socket, 'close');
  return repliesIn(Buffer.concat(received));
}

/** Takes a stream of replies apart; throws where it is anything else. */
function repliesIn(bytes: Buffer): RawReply[] {
  const replies: RawReply[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
    if (status === undefined) throw new Error(`no reply: ${JSON.stringify(rest.toString('latin1').slice(0, 200))}`);
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(status === '100' ? 0 : headers.get('content-length'));
    const body = rest.subarray(end + 4, end + 4 + length);
    if (!(body.length === length)) throw new Error(`a reply was cut short: ${JSON.stringify(rest.toString('latin1'))}`);
    if (status !== '100') replies.push({ status: Number(status), headers, body: body.toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return replies;
}
