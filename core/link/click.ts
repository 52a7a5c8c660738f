/** Returns whether a user agent is that of a bot. */
export type IsBot = (userAgent: string) => boolean;

/** A request of the destination of a link. */
export interface Visit {
  /** The user agent, or an empty string if there is none. */
  readonly userAgent: string;
  /** Why the client says that it sent the request, such as `prefetch`. */
  readonly purposes: readonly string[];
}

/**
 * Returns the reason why a visit is not the click of a person, or `undefined` if it is one. Repeated visits within
 * `MIN_CLICK_INTERVAL_MS` (core/limits.ts) do not count either.
 */
export function findReasonNotToCount({ userAgent, purposes }: Visit, isBot: IsBot): 'bot' | 'prefetch' | undefined {
  if (userAgent === '' || isBot(userAgent)) return 'bot';
  return purposes.some((purpose) => /^(?:prefetch|preview)/i.test(purpose)) ? 'prefetch' : undefined;
}
