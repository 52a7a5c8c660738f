import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { NEW_ID } from './requests.ts';

/** The requests that the client sends, its connections, and the duration. */
export interface ClientLoad {
  readonly port: number;
  /**
   * The texts of the requests. The connections share this list: each connection sends the next request, and the list
   * repeats.
   */
  readonly requests: readonly string[];
  /** The expected status of every response. */
  readonly status: number;
  readonly connections: number;
  readonly milliseconds: number;
}

export interface LoadResult {
  /** The number of responses with the expected status and a `Content-Length`. */
  readonly requests: number;
  /** The number of other responses. */
  readonly failures: number;
  readonly seconds: number;
  /** The median and the 99th percentile of the latency, in milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

const END_OF_HEAD = '\r\n\r\n';

// The client is a process of its own, so that it takes no processor time from a server.
process.on('message', async (load: ClientLoad) => {
  const latencies: number[] = [];
  let failures = 0;
  const start = performance.now();
  const recordResponse = (isExpected: boolean, milliseconds: number) => {
    if (isExpected) latencies.push(milliseconds);
    else failures++;
  };
  const end = start + load.milliseconds;
  const requests = load.requests.map(prepareRequest);
  let sentCount = 0;
  const nextRequest = () => (requests[sentCount++ % requests.length] as () => Buffer)();
  const keepConnectionBusy = () => keepBusy(load, nextRequest, end, recordResponse);
  await Promise.all(Array.from({ length: load.connections }, keepConnectionBusy));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const percentile = (ratio: number) => latencies[Math.floor(latencies.length * ratio)] ?? Number.POSITIVE_INFINITY;
  const [median, p99, max] = [percentile(0.5), percentile(0.99), latencies.at(-1) ?? Number.POSITIVE_INFINITY];
  process.send?.({ requests: latencies.length, failures, seconds, median, p99, max } satisfies LoadResult);
});

/** Returns a function that creates the bytes of a request. */
function prepareRequest(text: string): () => Buffer {
  if (text.includes(NEW_ID)) return () => Buffer.from(text.replace(NEW_ID, randomUUID()));
  const bytes = Buffer.from(text);
  return () => bytes;
}

/** Sends one request after another over a connection, each when the response to the previous request is complete. */
function keepBusy(
  { port, status }: ClientLoad,
  nextRequest: () => Buffer,
  end: number,
  recordResponse: (isExpected: boolean, milliseconds: number) => void,
): Promise<void> {
  const expectedStart = `HTTP/1.1 ${status} `;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let sentAt = 0;
    let received: Buffer | undefined;
    let missingBytes = 0;
    let isExpected = false;
    const send = () => {
      sentAt = performance.now();
      received = undefined;
      socket.write(nextRequest());
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      if (missingBytes === 0) {
        received = received ? Buffer.concat([received, chunk]) : chunk;
        const text = received.toString('latin1');
        const headEnd = text.indexOf(END_OF_HEAD);
        if (headEnd < 0) return;
        const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
        isExpected = text.startsWith(expectedStart) && length !== undefined;
        missingBytes = headEnd + END_OF_HEAD.length + Number(length ?? 0) - text.length;
      } else {
        missingBytes -= chunk.length;
      }
      if (missingBytes > 0) return;
      const now = performance.now();
      recordResponse(isExpected, now - sentAt);
      if (now < end) send();
      else socket.end(resolve);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
  });
}
