import type { Logger } from 'pino';
import { OutageLog } from '../logging/outage-log.ts';
import { serializeError } from '../logging/serialize-error.ts';
import type { WebhookObserver } from './delivery-loop.ts';

/** Creates the observer that logs disabled webhooks, and when webhooks cannot be read or changed. It logs no URL. */
export function createWebhookLogObserver(logger: Logger): WebhookObserver {
  const log = logger.child({}, { serializers: { err: serializeError } });
  const outage = new OutageLog((line, err) => log.warn({ err }, line));
  return {
    onAttempt({ webhook: { id: webhookId, workspaceId }, outcome: { status, problem, durationMs }, isDisabled }) {
      const attempt = { workspaceId, webhookId, status, problem, milliseconds: durationMs };
      if (isDisabled) log.warn(attempt, 'webhook disabled, because its attempts failed');
      else log.debug(attempt, 'webhook attempt completed');
    },
    onCheck() {
      outage.logEnd('Webhooks are sent again, because the storage is available.');
    },
    onError(error) {
      outage.logFailure('No webhooks are sent, because the storage is unavailable.', true, error);
    },
  };
}
