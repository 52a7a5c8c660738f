import { connect } from 'node:net';

/** What the client is told to do for a while, and what it tells afterwards. */
export interface Load {
  readonly port: number;
  /** The bytes of the request. */
  readonly request: string;
  /** The status of every answer. */
  readonly status: number;
  readonly milliseconds: number;
}
export interface Done {
  readonly requests: number;
  readonly seconds: number;
  /** Latencies in milliseconds. */
  readonly median: number;
  readonly p99: number;
}

const CONNECTIONS = 32;
const END_OF_HEAD = '\r\n\r\n';

/** A process of its own, so that it takes no time from a server. */
process.on('message', async (load: Load) => {
  const latencies: number[] = [];
  const start = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => converse(load, start + load.milliseconds, latencies)));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] as number;
  process.send?.({ requests: latencies.length, seconds, median: at(0.5), p99: at(0.99) } satisfies Done);
});

/** Keeps a connection busy with one request at a time: the next goes out when the last is answered. */
function converse({ port, request, status }: Load, until: number, latencies: number[]): Promise<void> {
  const bytes = Buffer.from(request);
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let sentAt = 0;
    let answer = '';
    const ask = () => {
      sentAt = performance.now();
      answer = '';
      socket.write(bytes);
    };
    socket.on('connect', ask);
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (!isWhole(answer)) return;
      const now = performance.now();
      latencies.push(now - sentAt);
      if (!answer.startsWith(`HTTP/1.1 ${status} `)) socket.destroy(new Error(`not ${status}: ${answer}`));
      else if (now < until) ask();
      else socket.end(resolve);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
  });
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf(END_OF_HEAD);
  return end >= 0 && answer.length >= end + END_OF_HEAD.length + Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1]);
}
