import { z } from 'zod';
import { GROUP_NAME_LENGTH } from '../../core/group/group.ts';
import { DESCRIPTION_LENGTH } from '../../core/shared/text.ts';
import { count, createdAt, recordId, responseText, text } from './fields.ts';
import { defineOperation, respondCreated } from './operation.ts';

export const createGroup = defineOperation({
  id: 'createGroup',
  method: 'POST',
  path: '/groups',
  permission: 'write',
  summary: 'Create a group',
  description:
    'Creates a group without members. Group names are unique in a workspace, case-insensitively (409 otherwise).',
  body: z
    .strictObject({
      name: text(GROUP_NAME_LENGTH).describe(
        'The name: 1 to 190 characters, unique in the workspace (case-insensitive).',
      ),
      description: text(DESCRIPTION_LENGTH)
        .optional()
        .describe('The description: at most 5000 characters. Responses do not contain it.'),
    })
    .meta({ id: 'NewGroup', description: 'A group to create.' }),
  statuses: [201],
  response: z
    .object({
      id: recordId,
      name: responseText(GROUP_NAME_LENGTH).describe('The name.'),
      count: count.describe('The number of members.'),
      createdAt,
    })
    .meta({ id: 'Group', description: 'A group of members.' }),
  example: {
    body: { name: 'Lisbon', description: 'Everyone in the Lisbon office.' },
    response: {
      id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e04',
      name: 'Lisbon',
      count: 0,
      createdAt: '2026-05-20T08:15:00.000Z',
    },
  },
  run: async (app, { caller, body }) => respondCreated(await app.groups.create(caller.workspaceId, body)),
});
