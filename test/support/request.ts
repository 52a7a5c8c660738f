export const DEMO_API_KEY = 'demo-key-of-the-tests';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text parsed as JSON; `undefined` where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly json: any;
}

export interface RequestOptions {
  /** The bearer key; the demo's where it is left out, none where it is `null`. */
  readonly key?: string | null;
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to a URL, with the key of the demo where none is given. */
export async function request(
  url: string,
  method: string,
  { key = DEMO_API_KEY, body, headers }: RequestOptions = {},
): Promise<ApiResponse> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
