import type { Logger } from 'pino';
import type { Observer } from './replies.ts';

/** Logs a line for each request, and all that is known of a failure; joined by the request id. */
export function logObserver(logger: Logger): Observer {
  const log = logger.child({}, { serializers: { err: told } });
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

/** What is logged of an error, and of its causes. Its other properties may hold records, as those of a driver do. */
function told(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack, cause } = error;
  return {
    type,
    message,
    stack,
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: told(cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.map(told) }),
  };
}
