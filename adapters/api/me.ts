import { z } from 'zod';
import { ACCESS } from '../../core/access/permissions.ts';
import { API_KEY_LABEL_LENGTH, EMAIL_LENGTH, NAME_LENGTH } from '../../core/limits.ts';
import { ROLES } from '../../core/member/member.ts';
import { SEAT_TYPES } from '../../core/shared/seat-type.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';

/**
 * An upper bound for the OpenAPI document. Only `advocacy member` sets the groups, one per argument, and takes fewer
 * arguments than this.
 */
const MAX_GROUP_COUNT = 100_000;

export const getMe = defineOperation({
  id: 'getMe',
  method: 'GET',
  path: '/me',
  command: 'me',
  summary: 'Retrieve the caller',
  description: ['Returns the workspace, the member and the API key of the request.'],
  response: z
    .object({
      workspace: z
        .object({ id: field.recordId, name: field.responseText(NAME_LENGTH).describe('The name.') })
        .describe('The workspace that the API key belongs to.'),
      member: z
        .object({
          id: field.recordId,
          name: field.responseText(NAME_LENGTH).describe('The name.'),
          email: field.responseText(EMAIL_LENGTH).describe('The email address.'),
          role: z
            .enum(ROLES)
            .describe(
              'The role. `admin`: can also create, change and delete records. `member`: can only read, and share campaigns.',
            ),
          seatType: z.enum(SEAT_TYPES).describe('The seat type.'),
          groups: z
            .array(field.recordId)
            .max(MAX_GROUP_COUNT)
            .readonly()
            .describe('The IDs of the groups of the member.'),
        })
        .nullable()
        .describe('The member that the API key belongs to, or `null` if the key does not belong to a member.'),
      key: z
        .object({
          id: field.recordId,
          label: field.responseText(API_KEY_LABEL_LENGTH).describe('The label, or an empty string.'),
          access: z.enum(ACCESS).describe('The access level. `read` does not allow writes.'),
          expiresAt: z
            .string()
            .nullable()
            .meta({ format: 'date-time', maxLength: 24 })
            .describe('The time at which the key expires, in UTC, or `null` if it does not expire.'),
        })
        .describe('The API key, without its secret.'),
    })
    .meta({ id: 'Me', description: 'The workspace, the member and the API key of a request.' }),
  example: {
    response: {
      workspace: { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0f', name: 'Northwind' },
      member: {
        id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a',
        name: 'Ada Pereira',
        email: 'ada@northwind.example',
        role: 'admin',
        seatType: 'thought_leader',
        groups: ['0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e04'],
      },
      key: {
        id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0b',
        label: 'Intranet',
        access: 'full',
        expiresAt: '2027-05-20T00:00:00.000Z',
      },
    },
  },
  run: async (app, { caller }) => {
    const { workspaceId, keyId } = caller;
    const [{ member }, workspace, key] = await Promise.all([
      app.groups.selectExisting(caller),
      app.workspaces.get(workspaceId),
      // The operator on the command line has no key, so there it is `null`. In the API, each caller has one.
      keyId === undefined ? (null as never) : app.apiKeys.get(workspaceId, keyId),
    ]);
    return { workspace, member: member ? { ...member, groups: member.groupIds } : null, key };
  },
});
