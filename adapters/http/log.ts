import type { Logger } from 'pino';
import type { Observer } from './replies.ts';

/** Logs a line for each request, and all that is known of a failure; joined by the request id. */
export function logObserver(log: Logger): Observer {
  return {
    replied({ startedAt: _, ...exchange }, status, milliseconds) {
      log.info({ ...exchange, status, milliseconds: Math.round(milliseconds * 10) / 10 }, 'replied');
    },
    failed({ startedAt: _, ...exchange }, error) {
      log.error({ ...exchange, err: error }, 'failed');
    },
  };
}
