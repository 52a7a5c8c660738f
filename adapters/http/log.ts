import type { Logger } from 'pino';
import type { Observer } from './replies.ts';

/** Logs a line for each request, and all that is known of a failure; joined by the request id. */
export function logObserver(log: Logger): Observer {
  return {
    replied({ requestId, method, traceparent, route, workspaceId, keyId }, status, milliseconds) {
      const rounded = Math.round(milliseconds * 10) / 10;
      log.info({ requestId, method, traceparent, route, workspaceId, keyId, status, milliseconds: rounded }, 'replied');
    },
    failed({ requestId, method, traceparent, route, workspaceId, keyId }, error) {
      log.error({ requestId, method, traceparent, route, workspaceId, keyId, err: error }, 'failed');
    },
  };
}
