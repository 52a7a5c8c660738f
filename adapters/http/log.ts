import type { Logger } from 'pino';
import { serializeError } from '../logging/serialize-error.ts';
import { redactPath } from './log-redaction.ts';
import type { Observer } from './observer.ts';
import type { RequestContext } from './request-context.ts';

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
  const { requestId, method, route, tool, workspaceId, keyId, memberId, recordId } = context;
  return { requestId, method, route, tool, workspaceId, keyId, memberId, recordId };
}
