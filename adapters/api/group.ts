import { z } from 'zod';
import { DESCRIPTION_LENGTH, NAME_LENGTH } from '../../core/limits.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UNIQUE_NAME, UPDATE } from './record-operations.ts';

const groupFields = z.strictObject({
  name: field.text(NAME_LENGTH).describe('The name, unique in the workspace (case-insensitive).'),
  description: field.text(DESCRIPTION_LENGTH).describe('The description. Responses do not contain it.'),
});

const groupResponse = z
  .object({
    id: field.recordId,
    name: field.responseText(NAME_LENGTH).describe('The name.'),
    count: field.count.describe('The number of members.'),
    createdAt: field.createdAt,
  })
  .meta({ id: 'Group', description: 'A group of members.' });

const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e04',
  name: 'Lisbon',
  count: 12,
  createdAt: '2026-05-20T08:15:00.000Z',
};

const groups = describeResource('group', '/groups', groupResponse, example);

export const createGroup = defineOperation({
  ...groups.create,
  description: ['Creates a group without members.', 'To add a member, set the `groups` of the member.', ...UNIQUE_NAME],
  body: groupFields.partial({ description: true }).meta({ id: 'CreateGroup', description: 'A group to create.' }),
  example: {
    body: { name: example.name, description: 'Everyone in the Lisbon office.' },
    response: { ...example, count: 0 },
  },
  run: (app, { caller, body }) => app.groups.create(caller.workspaceId, body),
});

const listGroups = defineOperation({
  ...groups.list,
  columns: ['id', 'name', 'count', 'createdAt'],
  description: ['Returns the groups whose name contains the search term, by default all groups.'],
  query: z.strictObject(field.nameListParameters),
  run: (app, { caller, query }) => app.groups.list(caller.workspaceId, query),
});

const getGroup = defineOperation({
  ...groups.get,
  run: (app, { caller, params }) => app.groups.get(caller.workspaceId, params.id),
});

const updateGroup = defineOperation({
  ...groups.update,
  description: [...UPDATE, ...UNIQUE_NAME],
  body: groupFields.partial().meta({ id: 'UpdateGroup', description: 'The fields of a group to update.' }),
  example: { body: { name: 'Porto' }, response: { ...example, name: 'Porto' } },
  run: (app, { caller, params, body }) => app.groups.update(caller.workspaceId, params.id, body),
});

const deleteGroup = defineDelete({
  ...groups.delete,
  description: [
    ...groups.delete.description,
    'Campaigns, inspiration questions and members are not updated, but filters, briefs and counts ignore the group.',
    'With `availableToMe`, no member gets records that were only for this group.',
    'The name is free for another group.',
  ],
  run: (app, { caller, params }) => app.groups.remove(caller.workspaceId, params.id),
});

export const groupOperations = [createGroup, listGroups, getGroup, updateGroup, deleteGroup];
