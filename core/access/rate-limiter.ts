/** What is left of a limit after a request was counted; that the limit is passed is a value, not an error. */
export interface Usage {
  readonly allowed: boolean;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetsIn: number;
}

/** What is left of a limit after so many requests in a window that ends in `resetsIn` milliseconds. */
export function usageAfter(count: number, resetsIn: number, limit: number, windowSeconds: number): Usage {
  const remaining = Math.max(0, limit - count);
  return { allowed: count <= limit, limit, windowSeconds, remaining, resetsIn: Math.max(0, resetsIn) };
}

/** Counts requests of a key in windows of a fixed length; each window begins with the key's first request. */
export interface RateLimiter {
  consume(key: string): Promise<Usage>;
}
