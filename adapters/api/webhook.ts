import { z } from 'zod';
import { EVENT_TYPES } from '../../core/event/event.ts';
import { EVENT_TTL_DAYS, LABEL_LENGTH, MAX_WEBHOOK_COUNT, URL_LENGTH, WEBHOOK_TIMEOUT_MS } from '../../core/limits.ts';
import { WEBHOOK_PROBLEMS } from '../../core/webhook/webhook-sender.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UPDATE } from './record-operations.ts';

const status = z.int().min(100).max(999).meta({ format: 'int32' }).nullable();
const problem = z.enum(WEBHOOK_PROBLEMS);

const webhookFields = z.object({
  id: field.recordId,
  label: field.responseText(LABEL_LENGTH).describe('The label, or an empty string.'),
  url: field.responseText(URL_LENGTH).describe('The URL to which events are sent.'),
  types: z
    .array(z.enum(EVENT_TYPES))
    .max(EVENT_TYPES.length)
    .readonly()
    .describe('The types of the events that are sent. If the array is empty, events of all types are sent.'),
  enabled: z.boolean().describe('Whether events are sent.'),
  after: field.count.describe('The `sequence` of the last event that was delivered, or skipped because of its type.'),
  failingSince: field.timestampOrNull.describe(
    'The time of the first failure since the last success, in UTC, or `null`.',
  ),
  lastStatus: status.describe('The status of the last response, or `null` if the last attempt got no response.'),
  lastProblem: problem.describe('Why the last attempt failed, or an empty string.'),
  nextAttemptAt: field.timestampOrNull.describe('The time of the next attempt after a failure, in UTC, or `null`.'),
  createdAt: field.createdAt,
  updatedAt: field.updatedAt,
});
const webhookResponse = webhookFields.meta({ id: 'Webhook', description: 'A webhook, without its secret.' });
const webhookWithSecretResponse = webhookFields
  .extend({
    secret: z
      .string()
      .meta({ maxLength: 255, pattern: '^whsec_[!-~]+$' })
      .describe('The secret that signs the requests. No other response contains it.'),
  })
  .meta({ id: 'WebhookWithSecret', description: 'A new webhook with its secret.' });

const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0c',
  label: 'Intranet',
  url: 'https://intranet.example.com/events',
  types: ['campaign.published', 'share.created'],
  enabled: true,
  after: 41,
  failingSince: null,
  lastStatus: 204,
  lastProblem: '',
  nextAttemptAt: null,
  createdAt: '2026-06-02T09:30:00.000Z',
  updatedAt: '2026-06-02T09:30:00.000Z',
} satisfies z.input<typeof webhookFields>;

const webhooks = describeResource('webhook', '/webhooks', webhookResponse, example);

const fields = {
  url: field.urlWithoutFragment.describe(
    'The URL to send events to: https, without a user name and a fragment. Its host must not be a private address, except in `WEBHOOK_NETWORKS`.',
  ),
  types: field.enumList(EVENT_TYPES).describe('The [types](/docs#listEvents) of the events. By default, all types.'),
  label: field.text(LABEL_LENGTH).describe('A label to recognize the webhook by.'),
};

const createWebhook = defineOperation({
  ...webhooks.create,
  description: [
    'Creates a webhook: from now on, each new event of its types is sent to its URL, in order, in a POST of its own.',
    'The body is the event, as `GET /events` returns it, and the request is signed as Standard Webhooks 1.0 specifies.',
    `It is [sent again](/docs/webhooks#write-a-receiver) until a response has a 2xx status within ${WEBHOOK_TIMEOUT_MS / 1000} seconds, for up to 5 days.`,
    'Only this response contains the secret.',
    `A workspace has at most ${MAX_WEBHOOK_COUNT} webhooks (409 otherwise).`,
  ],
  body: z
    .strictObject({ url: fields.url, types: fields.types.default([]), label: fields.label.default('') })
    .meta({ id: 'CreateWebhook', description: 'A webhook to create.' }),
  lostSecretRemedy: 'delete it and create another',
  response: webhookWithSecretResponse,
  example: {
    body: { url: example.url, types: example.types, label: example.label },
    response: { ...example, lastStatus: null, secret: 'whsec_example_of_a_secret' },
  },
  run: (app, { caller, body }) => app.webhooks.create(caller.workspaceId, body),
});

const listWebhooks = defineOperation({
  ...webhooks.list,
  columns: ['id', 'label', 'url', 'enabled', 'after', 'failingSince', 'lastProblem', 'nextAttemptAt'],
  permission: 'inspect',
  description: ['Returns the webhooks of the workspace, newest first.'],
  query: z.strictObject(field.pageParameters()),
  run: (app, { caller, query }) => app.webhooks.list(caller.workspaceId, query),
});

const getWebhook = defineOperation({
  ...webhooks.get,
  permission: 'inspect',
  run: (app, { caller, params }) => app.webhooks.get(caller.workspaceId, params.id),
});

const updateWebhook = defineOperation({
  ...webhooks.update,
  description: [
    ...UPDATE,
    'A new `url` or `after`, or `enabled` with `true`, clears `failingSince`, and sends the next event at once.',
    'A webhook that is enabled again continues with the event after `after`.',
  ],
  body: z
    .strictObject({
      ...fields,
      enabled: z.boolean().describe('Whether events are sent.'),
      after: z
        .int()
        .min(0)
        .meta({ format: 'int64' })
        .describe(
          `The \`sequence\` after which events are sent: a lower one repeats events, and a higher one skips events. A value beyond the newest event means the newest event. Events older than ${EVENT_TTL_DAYS} days cannot be repeated.`,
        ),
    })
    .partial()
    .meta({ id: 'UpdateWebhook', description: 'The fields of a webhook to update.' }),
  example: { body: { after: 40 }, response: { ...example, after: 40, updatedAt: '2026-06-03T10:00:00.000Z' } },
  run: (app, { caller, params, body }) => app.webhooks.update(caller.workspaceId, params.id, body),
});

const deleteWebhook = defineDelete({
  ...webhooks.delete,
  run: (app, { caller, params }) => app.webhooks.remove(caller.workspaceId, params.id),
});

const testWebhook = defineOperation({
  id: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{id}/test',
  command: 'webhook test',
  summary: 'Test a webhook',
  description: [
    'Sends an event of the type `webhook.test` once, with the `sequence` 0 and an empty `data`, also if the webhook is disabled.',
    'A receiver that checks the type must accept `webhook.test`, which no other event has.',
    'The webhook does not change, and a failed test is not retried.',
    `The response takes up to ${WEBHOOK_TIMEOUT_MS / 1000} seconds.`,
  ],
  statuses: [200],
  externalTimeoutMs: WEBHOOK_TIMEOUT_MS,
  response: z
    .object({
      delivered: z.boolean().describe('Whether the response had a 2xx status.'),
      status: status.describe('The status of the response, or `null` without a response.'),
      problem: problem.describe('Why the test failed, or an empty string.'),
      durationMs: field.count.describe('The duration of the attempt in milliseconds.'),
    })
    .meta({ id: 'TestDelivery', description: 'The outcome of a test.' }),
  example: { response: { delivered: false, status: 404, problem: 'status', durationMs: 120 } },
  run: (app, { caller, params }) => app.webhooks.test(caller.workspaceId, params.id),
});

export const webhookOperations = [createWebhook, listWebhooks, getWebhook, updateWebhook, deleteWebhook, testWebhook];
