import type { Logger } from 'pino';
import type { Observer } from './replies.ts';

/** Logs a line for each request, and all that is known of a failure; joined by the request id. */
export function logObserver(logger: Logger) {
  const log = logger.child({}, { serializers: { err: toldOf } });
  return {
    replied({ requestId, method, traceparent, route, workspaceId, keyId }, status, milliseconds) {
      const rounded = Math.round(milliseconds * 10) / 10;
      log.info({ requestId, method, traceparent, route, workspaceId, keyId, status, milliseconds: rounded }, 'replied');
    },
    failed({ requestId, method, traceparent, route, workspaceId, keyId }, error) {
      log.error({ requestId, method, traceparent, route, workspaceId, keyId, err: error }, 'failed');
    },
  } satisfies Observer;
}

/** What is logged of an error, and of its causes. Its other properties may hold records, as those of a driver do. */
function toldOf(error: unknown): object {
  if (!(error instanceof Error)) return { message: unquoted(String(error)) };
  const { name: type, message, stack, cause } = error;
  const told = unquoted(message);
  return {
    type,
    message: told,
    ...(stack?.includes(message) && { stack: stack.replace(message, () => told) }),
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: toldOf(cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.map(toldOf) }),
  };
}

/** A message up to what it quotes, which may be a record: some of MongoDB's hold one whole. */
function unquoted(message: string): string {
  return message.replace(/["{].*/s, '…');
}
