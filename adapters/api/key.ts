import { z } from 'zod';
import { ACCESS } from '../../core/access/permissions.ts';
import {
  DEFAULT_GRACE_SECONDS,
  LABEL_LENGTH,
  MAX_GRACE_SECONDS,
  MAX_KEY_COUNT_PER_MEMBER,
  MAX_KEY_COUNT_WITHOUT_MEMBER,
} from '../../core/limits.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { describeResource } from './record-operations.ts';

export const keyFields = z.object({
  id: field.recordId,
  label: field.responseText(LABEL_LENGTH).describe('The label, or an empty string.'),
  lastFour: z
    .string()
    .meta({ minLength: 4, maxLength: 4, pattern: '^[!-~]{4}$' })
    .describe('The last four characters of the secret.'),
  memberId: field.recordId.nullable().describe('The ID of the member that the key belongs to, or `null`.'),
  access: z.enum(ACCESS).describe('The access level. `read` does not allow writes.'),
  createdAt: field.createdAt,
  expiresAt: field.timestampOrNull.describe(
    'The time at which the key expires, in UTC, or `null` if it does not expire.',
  ),
  revokedAt: field.timestampOrNull.describe('The time at which the key was deleted, in UTC, or `null`.'),
  lastUsedAt: field.timestampOrNull.describe('The time of the last use, in UTC, to the minute, or `null`.'),
});
const keyResponse = keyFields.meta({ id: 'Key', description: 'An API key, without its secret.' });
const keyWithSecretResponse = keyFields
  .extend({
    key: z
      .string()
      .meta({ maxLength: 255, pattern: '^[!-~]+$' })
      .describe('The secret. No other response contains it.'),
  })
  .meta({ id: 'KeyWithSecret', description: 'A new API key with its secret.' });

const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0b',
  label: 'Intranet',
  lastFour: 'wxyz',
  memberId: null,
  access: 'full',
  createdAt: '2026-06-02T09:30:00.000Z',
  expiresAt: '2099-12-31T23:59:59.999Z',
  revokedAt: null,
  lastUsedAt: null,
} as const;

const keys = describeResource('key', '/keys', keyResponse, example);
const exampleWithSecret = { ...example, key: 'adv_example_of_a_secret_that_ends_with_wxyz' };

const SECRET = 'The response is the only one that contains the secret.';
const lostSecretRemedy = 'rotate it for a new secret';

const listKeys = defineOperation({
  ...keys.list,
  columns: ['id', 'label', 'lastFour', 'memberId', 'access', 'lastUsedAt', 'expiresAt', 'revokedAt'],
  permission: 'inspect',
  summary: 'List API keys',
  description: ['Returns the API keys of the workspace, newest first, by default those that work.'],
  query: z.strictObject({
    memberId: field.idParameter.describe('Only the keys of the member with this ID.'),
    includeEnded: field.booleanParameter.default(false).describe('Also return deleted and expired keys.'),
    ...field.pageParameters(),
  }),
  run: (app, { caller, query }) => app.apiKeys.list(caller.workspaceId, query),
});

const getKey = defineOperation({
  ...keys.get,
  permission: 'inspect',
  run: (app, { caller, params }) => app.apiKeys.get(caller.workspaceId, params.id),
});

const createKey = defineOperation({
  ...keys.create,
  summary: 'Create an API key',
  description: [
    'Creates an API key.',
    SECRET,
    `A member has at most ${MAX_KEY_COUNT_PER_MEMBER} keys, and a workspace ${MAX_KEY_COUNT_WITHOUT_MEMBER} keys without a member (409 otherwise).`,
    'Deleted, expired and rotated keys do not count.',
  ],
  body: z
    .strictObject({
      label: field.text(LABEL_LENGTH).default('').describe('A label to recognize the key by.'),
      memberId: field.id.nullable().default(null).describe('The ID of the member that the key belongs to.'),
      access: z.enum(ACCESS).default('full').describe('The access level. `read` does not allow writes.'),
      expiresAt: field.endDate
        .transform(({ time }) => formatTimestamp(time))
        .nullable()
        .default(null)
        .describe('When the key expires: in the future, and not after the API key of the request expires.'),
    })
    .meta({ id: 'CreateKey', description: 'An API key to create.' }),
  lostSecretRemedy,
  response: keyWithSecretResponse,
  example: {
    body: { label: example.label, expiresAt: '2099-12-31' },
    response: exampleWithSecret,
  },
  run: async (app, { caller, body }) => {
    const { apiKey, secret } = await app.apiKeys.create(caller.workspaceId, body, caller.keyId);
    return { ...apiKey, key: secret };
  },
});

const rotateKey = defineOperation({
  id: 'rotateKey',
  method: 'POST',
  path: '/keys/{id}/rotate',
  command: 'key rotate',
  summary: 'Rotate an API key',
  description: [
    'Creates an API key with the label, member, access level and expiry of this one, and ends this one after a grace period.',
    SECRET,
    'A key that has ended or was rotated before is rejected (409).',
    'If the API key of the request expires, it cannot rotate a key that expires later (403).',
  ],
  body: z
    .strictObject({
      graceSeconds: z
        .int()
        .min(0)
        .max(MAX_GRACE_SECONDS)
        .meta({ format: 'int32' })
        .default(DEFAULT_GRACE_SECONDS)
        .describe('How long the rotated key still works, in seconds. `0` deletes it at once.'),
    })
    .meta({ id: 'RotateKey', description: 'How to rotate an API key.' }),
  lostSecretRemedy,
  response: keyWithSecretResponse,
  example: { body: { graceSeconds: 3600 }, response: exampleWithSecret },
  run: async (app, { caller, params, body }) => {
    const { apiKey, secret } = await app.apiKeys.rotate(caller.workspaceId, params.id, body.graceSeconds, caller.keyId);
    return { ...apiKey, key: secret };
  },
});

const deleteKey = defineOperation({
  ...keys.delete,
  summary: 'Delete an API key',
  description: [
    'Revokes an API key permanently: within 5 seconds, all requests with it are rejected (401).',
    'A key can delete itself.',
    'If the key is deleted already, nothing changes, and the response is the same.',
    'The list of keys still returns a deleted key with `includeEnded`.',
  ],
  response: field.deletedRecord,
  example: { response: { id: example.id } },
  run: (app, { caller, params }) => app.apiKeys.revoke(caller.workspaceId, params.id),
});

export const keyOperations = [listKeys, getKey, createKey, rotateKey, deleteKey];
