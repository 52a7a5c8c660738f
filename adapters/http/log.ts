import type { Logger } from 'pino';
import type { Exchange, Observer } from './replies.ts';

/** Logs a line for each request, and all that is known of a failure; joined by the request id. */
export function logObserver(log: Logger): Observer {
  return {
    replied(exchange, status, milliseconds) {
      log.info({ ...known(exchange), status, milliseconds: Math.round(milliseconds * 10) / 10 }, 'replied');
    },
    failed(exchange, error) {
      log.error({ ...known(exchange), err: error }, 'failed');
    },
  };
}

function known({ requestId, method, traceparent, route, workspaceId, keyId }: Exchange) {
  return { requestId, method, traceparent, route, workspaceId, keyId };
}
