/** The usage of a limit after a request was counted. `consume` also returns it for a request that exceeds the limit. */
export interface Usage {
  readonly allowed: boolean;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Milliseconds until the window ends, at most the length of the window. */
  readonly resetsInMs: number;
}

/**
 * Returns the usage of a limit after `count` requests in a window that ends in `resetsInMs` milliseconds. If a clock
 * was set back, `resetsInMs` may exceed the length of the window. It is then reduced to this length.
 */
export function toUsage(count: number, resetsInMs: number, limit: number, windowSeconds: number): Usage {
  const remaining = Math.max(0, limit - count);
  const boundedMs = Math.min(Math.max(0, resetsInMs), windowSeconds * 1_000);
  return { allowed: count <= limit, limit, windowSeconds, remaining, resetsInMs: boundedMs };
}

/**
 * Counts the requests of a key (such as the ID of an API key or a client address) in windows of a fixed length. A
 * window begins with the first request of the key after its previous window.
 */
export interface RateLimiter {
  consume(key: string): Promise<Usage>;
}
