import type { Logger } from 'pino';
import { operations } from '../api/operations.ts';
import type { Observer } from './responder.ts';

const MAX_PATH_LENGTH = 200;

/** Logs a line for each request, and all that is known of a failure; joined by the request id. */
export function logObserver(logger: Logger) {
  const log = logger.child({}, { serializers: { err: toldOf } });
  return {
    onResponse({ requestId, method, traceparent, route, path, workspaceId, keyId }, status, milliseconds) {
      const rounded = Math.round(milliseconds * 10) / 10;
      log.info(
        {
          ...{ requestId, method, traceparent, route, path: path && loggedPath(path), workspaceId, keyId, status },
          milliseconds: rounded,
        },
        'replied',
      );
    },
    onError({ requestId, method, traceparent, route, workspaceId, keyId }, error) {
      log.error({ requestId, method, traceparent, route, workspaceId, keyId, err: error }, 'failed');
    },
  } satisfies Observer;
}

/**
 * Returns a path for the log, of bounded length and without any text that is as long as a key. A path is visible ASCII,
 * because Node's parser rejects any other target.
 */
function loggedPath(path: string): string | undefined {
  // The target of CONNECT is not a path, and may hold a password.
  if (!path.startsWith('/') && path !== '*') return undefined;
  const safe = path.replace(/[^/]{20,}/g, (segment) =>
    RECORD_ID.test(segment) || segments.has(segment) ? segment : '[redacted]',
  );
  return safe.length > MAX_PATH_LENGTH ? `${safe.slice(0, MAX_PATH_LENGTH)}…` : safe;
}

const RECORD_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const segments = new Set(operations.flatMap(({ path }) => path.split('/')));

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
