/** Returns whether a user agent is that of a bot. */
export type IsBot = (userAgent: string) => boolean;

/**
 * Returns the reason why a request for the destination of a link is not the click of a person, or `undefined` if it is
 * one. `purposes` say why the client sent the request, such as `prefetch`. Repeated visits within
 * `MIN_CLICK_INTERVAL_MS` (core/limits.ts) do not count either.
 */
export function findReasonNotToCount(
  userAgent: string,
  purposes: readonly string[],
  isBot: IsBot,
): 'bot' | 'prefetch' | undefined {
  if (userAgent === '' || isBot(userAgent)) return 'bot';
  return purposes.some((purpose) => /^(?:prefetch|preview)/i.test(purpose)) ? 'prefetch' : undefined;
}
