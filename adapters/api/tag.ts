import { z } from 'zod';
import { COLORS } from '../../core/shared/color.ts';
import { findTagNameProblem, TAG_NAME_LENGTH } from '../../core/tag/tag.ts';
import { recordId, responseText, text } from './fields.ts';
import { defineOperation, respondCreated, respondOk } from './operation.ts';

const name = text(TAG_NAME_LENGTH, findTagNameProblem).meta({ pattern: '^[^\\u0000,]*[^\\s\\u0000,][^\\u0000,]*$' });
const tagBody = z
  .strictObject({
    name: name.describe('The name: 1 to 190 characters without commas, unique in the workspace (case-insensitive).'),
  })
  .meta({ id: 'NewTag', description: 'A tag to create or rename.' });
const tagResponse = z
  .object({
    id: recordId,
    name: responseText(TAG_NAME_LENGTH).describe('The name.'),
    color: z.enum(COLORS).describe('The color. The service assigns it.'),
  })
  .meta({ id: 'Tag', description: 'A label for campaigns.' });

/** The tag in the examples of the OpenAPI document. */
const example = { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e05', name: 'Onboarding', color: 'purple' } as const;

export const createTag = defineOperation({
  id: 'createTag',
  method: 'POST',
  path: '/tags',
  permission: 'write',
  summary: 'Create a tag',
  description:
    'Creates a tag with the color that the workspace uses least. Tag names are unique in a workspace, case-insensitively (409 otherwise).',
  body: tagBody,
  statuses: [201],
  response: tagResponse,
  example: { body: { name: example.name }, response: example },
  run: async (app, { caller, body }) => respondCreated(await app.tags.create(caller.workspaceId, body.name)),
});

export const updateTag = defineOperation({
  id: 'updateTag',
  method: 'PATCH',
  path: '/tags/{id}',
  permission: 'write',
  summary: 'Rename a tag',
  description:
    'Changes the name of a tag, but not its color. Tag names are unique in a workspace, case-insensitively (409 otherwise).',
  body: tagBody,
  statuses: [200],
  response: tagResponse,
  example: { body: { name: 'First week' }, response: { ...example, name: 'First week' } },
  run: async (app, { caller, params, body }) =>
    respondOk(await app.tags.rename(caller.workspaceId, params.id, body.name)),
});
