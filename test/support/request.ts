import { createApiKeySecret } from '../../core/access/api-key.ts';

/**
 * The API key of the demo workspace in tests. It has the format of created keys, because a server without
 * `DEMO_API_KEY` (MongoDB) accepts no other format.
 */
export const DEMO_API_KEY = createApiKeySecret('DemoKeyOfTheTests'.padEnd(32, '0'));

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, or `undefined` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the expected type
  readonly json: any;
}

export interface CallOptions {
  /** The bearer key. The default is the demo key. `null` sends no key. */
  readonly key?: string | null;
  /** Serialized as JSON. A string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to a URL. */
export async function request(
  url: string,
  method: string,
  { key = DEMO_API_KEY, body, headers }: CallOptions = {},
): Promise<ApiResponse> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
