import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** A request as it is sent, and how. */
export interface Sending {
  readonly method?: string;
  readonly path: string;
  /** The bearer key; none where it is left out. */
  readonly key?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came of a request: status 0, and why, where no answer came. */
export interface Sent {
  /** When it was sent, as of `performance.now()`. */
  readonly at: number;
  readonly milliseconds: number;
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

const agent = new Agent({ keepAlive: true });

/** Sends one request, over a connection that is kept for the next; never rejects. */
export function send(url: string, { method = 'GET', path, key, body, headers }: Sending): Promise<Sent> {
  const at = performance.now();
  const all = {
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    ...(body && { 'Content-Type': 'application/json' }),
    ...headers,
  };
  return new Promise((resolve) => {
    const end = (status: number, text: string, replied: IncomingHttpHeaders = {}) =>
      resolve({ at, milliseconds: performance.now() - at, status, text, headers: replied });
    const sending = request(url + path, { method, agent, headers: all }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk) => (text += chunk));
      reply.on('error', (error) => end(0, String(error)));
      reply.on('end', () => end(reply.statusCode ?? 0, text, reply.headers));
    });
    sending.on('error', (error) => end(0, String(error)));
    sending.end(body && JSON.stringify(body));
  });
}

/** Clients that send one request after another until they are told to end. */
export interface Load {
  /** What came of each request so far, in the order of the answers. */
  readonly sent: readonly Sent[];
  /** Resolves when each client has the answer to its last request; rejects where a client's work did. */
  end(): Promise<void>;
}

/** Lets so many clients work: each does `work` with its number and the count of what it did before, again and again. */
export function startLoad(clients: number, work: (client: number, i: number) => Promise<Sent>): Load {
  const sent: Sent[] = [];
  let isOver = false;
  const client = async (number: number) => {
    for (let i = 0; !isOver; i++) sent.push(await work(number, i));
  };
  const working = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  working.catch(() => 'told at its end');
  return {
    sent,
    async end() {
      isOver = true;
      await working;
    },
  };
}

/** The value that so much of all are not above: `of(values, 0.99)` is their 99th percentile; 0 of none. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0;
}

/** The longest time, in milliseconds, between two successes that follow on each other. */
export function longestGap(sent: readonly Sent[]): number {
  const ends = sent
    .filter(({ status }) => status >= 200 && status < 300)
    .map(({ at, milliseconds }) => at + milliseconds)
    .sort((a, b) => a - b);
  return Math.max(0, ...ends.slice(1).map((end, i) => end - (ends[i] as number)));
}
