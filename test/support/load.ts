import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { doNothing } from '../../core/shared/do-nothing.ts';

/** A request of a test. */
export interface LoadRequest {
  readonly method?: string;
  readonly path: string;
  /** The API key. If it is omitted, the request has no credentials. */
  readonly key?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to a request. If the request gets no response, the status is 0, and `text` is the error. */
export interface LoadResponse {
  /** When the request was sent, as of `performance.now()`. */
  readonly sentAt: number;
  readonly milliseconds: number;
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

const agent = new Agent({ keepAlive: true });

/** Sends a request over a persistent connection. Never rejects. */
export function send(url: string, { method = 'GET', path, key, body, headers }: LoadRequest): Promise<LoadResponse> {
  const sentAt = performance.now();
  const allHeaders = {
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    ...(body && { 'Content-Type': 'application/json' }),
    ...headers,
  };
  return new Promise((resolve) => {
    const finish = (status: number, text: string, responseHeaders: IncomingHttpHeaders = {}) =>
      resolve({ sentAt, milliseconds: performance.now() - sentAt, status, text, headers: responseHeaders });
    const outgoing = request(url + path, { method, agent, headers: allHeaders }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('error', (error) => finish(0, String(error)));
      response.on('end', () => finish(response.statusCode ?? 0, text, response.headers));
    });
    outgoing.on('error', (error) => finish(0, String(error)));
    outgoing.end(body && JSON.stringify(body));
  });
}

/** Clients that each send one request after another until they are stopped. */
export interface Load {
  /** The responses so far, in the order of their arrival. */
  readonly responses: readonly LoadResponse[];
  /**
   * Stops the clients. Resolves when each client has the response to its last request. Rejects if `work` has rejected.
   */
  stop(): Promise<void>;
}

/** Starts clients. Each calls `work` repeatedly, with its own number and the number of its previous calls. */
export function startLoad(clients: number, work: (client: number, i: number) => Promise<LoadResponse>): Load {
  const responses: LoadResponse[] = [];
  let isStopped = false;
  const runClient = async (number: number) => {
    for (let i = 0; !isStopped; i++) responses.push(await work(number, i));
  };
  const working = Promise.all(Array.from({ length: clients }, (_, number) => runClient(number)));
  // `stop` rejects with the error.
  working.catch(doNothing);
  return {
    responses,
    async stop() {
      isStopped = true;
      await working;
    },
  };
}

/** Returns a quantile of values: `quantile(values, 0.99)` is their 99th percentile. Returns 0 if `values` is empty. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0;
}

/** Returns the longest time between two consecutive successes, in milliseconds. */
export function findLongestGap(responses: readonly LoadResponse[]): number {
  const ends = responses
    .filter(({ status }) => status >= 200 && status < 300)
    .map(({ sentAt, milliseconds }) => sentAt + milliseconds)
    .sort((a, b) => a - b);
  return Math.max(0, ...ends.slice(1).map((end, i) => end - (ends[i] as number)));
}
