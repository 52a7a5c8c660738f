import type { components, paths } from './schema.ts';

export { verifyWebhook, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from './webhook.ts';

/** The bodies of requests and responses by their names, such as `Schemas['Campaign']`. */
export type Schemas = components['schemas'];

/** An error response. Branch on `code` in your program. */
export class AdvocacyError extends Error {
  override readonly name = 'AdvocacyError';
  readonly status: number;
  /** The error code. `undefined` if the response is not from the service, but from a proxy, for example. */
  readonly code: Schemas['ErrorDetails']['code'] | undefined;
  /** The URL of the documentation of the error code. */
  readonly docUrl: string | undefined;
  /** The ID of the request in the log of the service. Quote it in support requests. */
  readonly requestId: string | undefined;

  constructor(url: URL, response: Response, text: string) {
    const { code, message, doc_url } = parseErrorDetails(text);
    super(message ?? `The response has status ${response.status}.`);
    this.status = response.status;
    this.code = code;
    this.docUrl = doc_url && new URL(doc_url, url).href;
    this.requestId = response.headers.get('X-Request-Id') ?? undefined;
  }
}

export interface ClientOptions {
  /** The URL of the service, such as `https://advocacy.example.com`. */
  readonly baseUrl: string;
  /** An API key. Browsers must not have keys, so use the client on a server. */
  readonly key: string;
  /** The maximum number of attempts for each request. Default: 5. */
  readonly maxAttempts?: number;
  /** The timeout of an attempt in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** The longest `Retry-After` that the client waits for, in milliseconds. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
  /** A replacement for `fetch`, for example to log requests. */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions {
  /** Cancels the request and its retries. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /**
   * The `Idempotency-Key` of a POST. By default, each call has a new random key, which all its attempts share. Set this
   * option to repeat a POST safely after a restart of your program.
   */
  readonly idempotencyKey?: string;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
/** The paths that have an operation with the method `M`. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, object> ? P : never;
}[keyof paths];
type Operation<M extends Method, P extends keyof paths> = paths[P][Lowercase<M> & keyof paths[P]];

type ParametersOf<O> = O extends { parameters: infer Parameters }
  ? Pick<Parameters, 'path' & keyof Parameters> & Pick<Parameters, 'query' & keyof Parameters>
  : never;
type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { readonly body: Body }
  : { readonly body?: never };
type Options<O> = RequestOptions & ParametersOf<O> & BodyOf<O>;
/** The last argument of a call. It can be omitted if nothing in it is required. */
type OptionsArgument<O> = RequestOptions extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

/** The body of the successful response of an operation. */
type Result<O> = O extends { responses: infer R } ? ContentOf<R[keyof R & (200 | 201)]> : never;
type ContentOf<R> = R extends { content: { 'application/json': infer Body } } ? Body : never;

/** The paths of lists. */
export type ListPath = {
  [P in PathOf<'GET'>]: Result<Operation<'GET', P>> extends readonly unknown[] ? P : never;
}[PathOf<'GET'>];
type ItemOf<T> = T extends readonly (infer Item)[] ? Item : never;

/** The events to iterate over, and how. The query is that of `GET /events`. */
export type EventOptions = Pick<RequestOptions, 'signal'> & {
  readonly after?: number;
  readonly types?: readonly Schemas['Event']['type'][];
  readonly pageSize?: number;
  /** The time between two requests when there are no further events, in milliseconds. */
  readonly pollIntervalMs?: number;
};

/** The options of a request without the types of its operation. */
interface UntypedOptions extends RequestOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const RETRY_DELAY_MS = 500;
const MAX_RETRY_DELAY_MS = 8_000;

/**
 * A client of the Workspace Advocacy API. The types of paths, parameters, bodies and results are those of its OpenAPI
 * document.
 */
export class AdvocacyClient {
  readonly #options: Required<ClientOptions>;

  constructor(options: ClientOptions) {
    this.#options = { maxAttempts: 5, timeoutMs: 30_000, maxRetryAfterMs: 60_000, fetch: globalThis.fetch, ...options };
  }

  /**
   * Calls an operation, and returns the body of its response. Rejects with an `AdvocacyError` if the response is an
   * error, or with the error of `fetch` if there is no response.
   *
   * Retries after network errors, timeouts, errors of proxies (statuses over 500), and errors with `Retry-After` up to
   * `maxRetryAfterMs`. Before a retry, waits for the seconds of `Retry-After`, if any, and for a backoff with jitter.
   * All attempts of a POST have the same `Idempotency-Key`, so the POST takes effect at most once. If the
   * response to a DELETE was lost, the retry is rejected with 404, because the record is already deleted.
   */
  async request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[options]: OptionsArgument<Operation<M, P>>
  ): Promise<Result<Operation<M, P>>> {
    const { data } = await this.#send(method, this.#createUrl(path, options), options);
    return data as Result<Operation<M, P>>;
  }

  /** Iterates over the records of a list. Requests the next page when it is needed. */
  async *list<P extends ListPath>(
    path: P,
    ...[options]: OptionsArgument<Operation<'GET', P>>
  ): AsyncGenerator<ItemOf<Result<Operation<'GET', P>>>, void, undefined> {
    let url: URL | undefined = this.#createUrl(path, options);
    while (url) {
      const { data, headers } = await this.#send('GET', url, options);
      yield* data as ItemOf<Result<Operation<'GET', P>>>[];
      const next: string | undefined = /<([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
      // Only the query of the link counts, so that the path of `baseUrl` is kept.
      if (next !== undefined) url.search = new URL(next, url).search;
      else url = undefined;
    }
  }

  /**
   * Iterates over the events after a sequence, oldest first. To go on later without a gap, pass the `sequence` of the
   * last event that you have handled as `after`. With `pollIntervalMs`, waits for further events instead of ending
   * after the newest one.
   */
  async *events({ pollIntervalMs, signal, ...query }: EventOptions = {}): AsyncGenerator<Schemas['Event'], void> {
    let { after = 0 } = query;
    while (true) {
      for await (const event of this.list('/events', { query: { ...query, after }, ...(signal && { signal }) })) {
        yield event;
        after = event.sequence;
      }
      if (pollIntervalMs === undefined) return;
      await delay(pollIntervalMs, signal);
    }
  }

  #createUrl(path: string, { path: parameters = {}, query = {} }: UntypedOptions = {}): URL {
    const filledPath = path.replace(/\{(\w+)\}/g, (_, name) => {
      const value = parameters[name];
      // Without a value, the path would be that of the list. Parsers of URLs remove the segments `.` and `..`, even if
      // they are encoded.
      if (!value || value === '.' || value === '..') {
        throw new TypeError(`The path parameter ${name} is ${JSON.stringify(value)}. Set it to the ID of a record.`);
      }
      return encodeURIComponent(value);
    });
    const url = new URL(this.#options.baseUrl.replace(/\/$/, '') + filledPath);
    for (const [name, values] of Object.entries(query)) {
      for (const value of [values].flat()) if (value !== undefined) url.searchParams.append(name, String(value));
    }
    return url;
  }

  /** Sends a request until it succeeds, fails permanently, has used all its attempts, or must wait for too long. */
  async #send(
    method: Method,
    url: URL,
    { body, idempotencyKey = crypto.randomUUID(), signal }: UntypedOptions = {},
  ): Promise<{ readonly data: unknown; readonly headers: Headers }> {
    const { key, maxAttempts, maxRetryAfterMs } = this.#options;
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(method === 'POST' ? { 'Idempotency-Key': idempotencyKey } : {}),
    };
    const init = { method, headers, body: JSON.stringify(body) };
    for (let attempt = 1; ; attempt++) {
      const { response, text, error } = await this.#sendOnce(url, init, signal);
      if (response?.ok) return { data: JSON.parse(text), headers: response.headers };
      const retryAfter = response?.headers.get('Retry-After') ?? null;
      const canRetry = !response || response.status > 500 || retryAfter !== null;
      const retryAfterMs = Number(retryAfter) * 1000 || 0;
      if (!canRetry || attempt >= maxAttempts || retryAfterMs > maxRetryAfterMs) throw error;
      const backoffMs = Math.min(RETRY_DELAY_MS * 2 ** (attempt - 1), MAX_RETRY_DELAY_MS);
      await delay(retryAfterMs + backoffMs * (0.5 + Math.random() / 2), signal);
    }
  }

  async #sendOnce(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Attempt> {
    const { fetch, timeoutMs } = this.#options;
    try {
      const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
      const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
      const text = await response.text();
      return { response, text, error: response.ok ? undefined : new AdvocacyError(url, response, text) };
    } catch (error) {
      return { text: '', error };
    }
  }
}

/** The result of an attempt: a response, or only the error of `fetch`. */
interface Attempt {
  readonly response?: Response;
  readonly text: string;
  /** The error to throw if there is no further attempt. `undefined` if the response is successful. */
  readonly error: unknown;
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort);
  });
}

/** Returns the error object of a response. It is empty if the response is not from the service. */
function parseErrorDetails(text: string): Partial<Schemas['ErrorDetails']> {
  try {
    return JSON.parse(text).error ?? {};
  } catch {
    return {};
  }
}
