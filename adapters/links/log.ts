import type { Logger } from 'pino';
import { OutageLog } from '../logging/outage-log.ts';
import { serializeError } from '../logging/serialize-error.ts';
import type { LinkObserver } from './link-server.ts';
import { MAX_CACHE_AGE_MS } from './lookup-cache.ts';
import type { LinkOutcome } from './responses.ts';

/** The outcomes that do not show that the storage is available. */
const INCONCLUSIVE_OUTCOMES: readonly LinkOutcome[] = ['bad_request', 'method_not_allowed', 'limited', 'unavailable'];

/**
 * Creates the observer that logs when short links become unavailable and when they are available again. For
 * `MAX_CACHE_AGE_MS` after an error, a response can come from the cache, so it does not show that the storage is
 * available. Requests are logged at the level `debug`, without the link and the address of the client.
 */
export function createLinkLogObserver(logger: Logger): LinkObserver {
  const log = logger.child({}, { serializers: { err: serializeError } });
  let lastErrorAt: number | undefined;
  const outage = new OutageLog((line, err) => log.warn({ err }, line));
  return {
    onResponse(outcome, milliseconds) {
      log.debug({ outcome, milliseconds: Math.round(milliseconds * 10) / 10 }, 'link request completed');
      if (lastErrorAt === undefined || INCONCLUSIVE_OUTCOMES.includes(outcome)) return;
      if (performance.now() - lastErrorAt < MAX_CACHE_AGE_MS) return;
      lastErrorAt = undefined;
      outage.logEnd('The storage of short links and clicks is available again.');
    },
    onError(error) {
      lastErrorAt = performance.now();
      outage.logFailure('The storage of short links and clicks is unavailable.', true, error);
    },
  };
}
