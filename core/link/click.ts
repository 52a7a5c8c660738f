/** A request of the destination of a link. */
export interface Visit {
  /** Whether there is no user agent, or it is that of a bot. */
  readonly isBot: boolean;
  /** Why the client says that it sent the request, such as `prefetch`. */
  readonly purposes: readonly string[];
}

/** Returns the reason why a visit is not the click of a person, or `undefined` if it is one. */
export function findReasonNotToCount({ isBot, purposes }: Visit): 'bot' | 'prefetch' | undefined {
  if (isBot) return 'bot';
  return purposes.some((purpose) => /^(?:prefetch|preview)/i.test(purpose)) ? 'prefetch' : undefined;
}
