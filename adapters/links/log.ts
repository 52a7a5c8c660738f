import type { Logger } from 'pino';
import { OutageLog } from '../logging/outage-log.ts';
import { serializeError } from '../logging/serialize-error.ts';
import type { LinkObserver } from './link-server.ts';

/**
 * Creates the observer that logs when short links become unavailable and when they are available again. Requests are logged at the level
 * `debug`, without the link and the address of the client.
 */
export function createLinkLogObserver(logger: Logger): LinkObserver {
  const log = logger.child({}, { serializers: { err: serializeError } });
  let lastError: unknown;
  const outage = new OutageLog((line) => log.warn(lastError === undefined ? {} : { err: lastError }, line));
  return {
    onResponse(outcome, milliseconds) {
      log.debug({ outcome, milliseconds: Math.round(milliseconds * 10) / 10 }, 'link request completed');
      if (outcome === 'unavailable' || lastError === undefined) return;
      lastError = undefined;
      outage.logEnd('The storage of short links and clicks is available again.');
    },
    onError(error) {
      lastError = error;
      outage.logFailure('The storage of short links and clicks is unavailable.');
    },
  };
}
