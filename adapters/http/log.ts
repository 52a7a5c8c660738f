import type { Logger } from 'pino';
import { operations } from '../api/operations.ts';
import { serializeError } from '../logging/serialize-error.ts';
import type { Observer, RequestContext } from './responder.ts';

const MAX_PATH_LENGTH = 200;

/**
 * Creates the observer that logs an entry for each request, and an entry with the stack for each unexpected error. Both
 * entries contain the request ID.
 */
export function createLogObserver(logger: Logger) {
  const log = logger.child({}, { serializers: { err: serializeError } });
  return {
    onResponse(context, status, milliseconds) {
      const rounded = Math.round(milliseconds * 10) / 10;
      const path = context.path && redactPath(context.path);
      log.info({ ...getLogFields(context), path, status, milliseconds: rounded }, 'request completed');
    },
    onError(context, error) {
      log.error({ ...getLogFields(context), err: error }, 'request failed');
    },
  } satisfies Observer;
}

function getLogFields(context: RequestContext) {
  const { requestId, method, traceparent, route, workspaceId, keyId, memberId, recordId } = context;
  return { requestId, method, traceparent, route, workspaceId, keyId, memberId, recordId };
}

/**
 * Returns a path for the log. Replaces each segment that is long enough to be an API key, unless it has the form of a
 * UUID or is a segment of the path of an operation. Truncates long paths. No character needs escaping, because Node's
 * parser accepts only visible ASCII in a path.
 */
function redactPath(path: string): string | undefined {
  // The target of CONNECT is not a path, and may contain a password.
  if (!path.startsWith('/') && path !== '*') return undefined;
  const safe = path.replace(/[^/]{20,}/g, (segment) =>
    RECORD_ID.test(segment) || KNOWN_SEGMENTS.has(segment) ? segment : '[redacted]',
  );
  return safe.length > MAX_PATH_LENGTH ? `${safe.slice(0, MAX_PATH_LENGTH)}…` : safe;
}

const RECORD_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KNOWN_SEGMENTS = new Set(operations.flatMap(({ path }) => path.split('/')));
