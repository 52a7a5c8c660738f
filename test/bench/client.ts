import { connect } from 'node:net';

/** What the client is told to do for a while, and what it tells afterwards. */
export interface Load {
  readonly port: number;
  /** The bytes of the requests, which all connections go through together. */
  readonly requests: readonly string[];
  /** The status of every answer. */
  readonly status: number;
  readonly connections: number;
  readonly milliseconds: number;
}
export interface Done {
  /** Those that were answered with the status. */
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  /** Latencies in milliseconds. */
  readonly median: number;
  readonly p99: number;
}

const END_OF_HEAD = '\r\n\r\n';

/** A process of its own, so that it takes no time from a server. */
process.on('message', async (load: Load) => {
  const latencies: number[] = [];
  let failures = 0;
  const start = performance.now();
  const note = (isExpected: boolean, milliseconds: number) => {
    if (isExpected) latencies.push(milliseconds);
    else failures++;
  };
  const until = start + load.milliseconds;
  const requests = load.requests.map((request) => Buffer.from(request));
  let sent = 0;
  const next = () => requests[sent++ % requests.length] as Buffer;
  await Promise.all(Array.from({ length: load.connections }, () => converse(load, next, until, note)));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.POSITIVE_INFINITY;
  process.send?.({ requests: latencies.length, failures, seconds, median: at(0.5), p99: at(0.99) } satisfies Done);
});

/** Keeps a connection busy with one request at a time: the next goes out when the last is answered. */
function converse(
  { port, status }: Load,
  next: () => Buffer,
  until: number,
  note: (isExpected: boolean, milliseconds: number) => void,
): Promise<void> {
  const expected = `HTTP/1.1 ${status} `;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let sentAt = 0;
    let head: Buffer | undefined;
    let missing = 0;
    let isExpected = false;
    const ask = () => {
      sentAt = performance.now();
      head = undefined;
      socket.write(next());
    };
    socket.on('connect', ask);
    socket.on('data', (chunk) => {
      if (missing === 0) {
        head = head ? Buffer.concat([head, chunk]) : chunk;
        const answer = head.toString('latin1');
        const end = answer.indexOf(END_OF_HEAD);
        if (end < 0) return;
        const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
        isExpected = answer.startsWith(expected) && length !== undefined;
        missing = end + END_OF_HEAD.length + Number(length ?? 0) - answer.length;
      } else {
        missing -= chunk.length;
      }
      if (missing > 0) return;
      const now = performance.now();
      note(isExpected, now - sentAt);
      if (now < until) ask();
      else socket.end(resolve);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
  });
}
