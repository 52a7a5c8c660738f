import { z } from 'zod';
import { NAME_LENGTH } from '../../core/limits.ts';
import { COLORS } from '../../core/shared/color.ts';
import { findTagNameProblem } from '../../core/tag/tag.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UNIQUE_NAME } from './record-operations.ts';

const name = field.text(NAME_LENGTH, findTagNameProblem).meta({ pattern: '^[^\\u0000,]*[^\\s\\u0000,][^\\u0000,]*$' });
const tagFields = z.strictObject({
  name: name.describe('The name, without commas, unique in the workspace (case-insensitive).'),
});
export const tagResponse = z
  .object({
    id: field.recordId,
    name: field.responseText(NAME_LENGTH).describe('The name.'),
    color: z.enum(COLORS).describe('The color. The service assigns it.'),
  })
  .meta({ id: 'Tag', description: 'A label for campaigns.' });

export const tagExample = { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e05', name: 'Onboarding', color: 'purple' } as const;

const tags = describeResource('tag', '/tags', tagResponse, tagExample);

export const createTag = defineOperation({
  ...tags.create,
  description: ['Creates a tag with the color that is least used in the workspace.', ...UNIQUE_NAME],
  body: tagFields.meta({ id: 'CreateTag', description: 'A tag to create.' }),
  example: { body: { name: tagExample.name }, response: tagExample },
  run: (app, { caller, body }) => app.tags.create(caller.workspaceId, body),
});

const listTags = defineOperation({
  ...tags.list,
  columns: ['id', 'name', 'color'],
  description: ['Returns the tags whose name contains the search term, by default all tags.'],
  query: z.strictObject(field.nameListParameters),
  run: (app, { caller, query }) => app.tags.list(caller.workspaceId, query),
});

const getTag = defineOperation({
  ...tags.get,
  run: (app, { caller, params }) => app.tags.get(caller.workspaceId, params.id),
});

const updateTag = defineOperation({
  ...tags.update,
  summary: 'Rename a tag',
  description: ['Changes the name of a tag, but not its color.', ...UNIQUE_NAME],
  body: tagFields.meta({ id: 'UpdateTag', description: 'The new name of a tag.' }),
  example: { body: { name: 'First week' }, response: { ...tagExample, name: 'First week' } },
  run: (app, { caller, params, body }) => app.tags.update(caller.workspaceId, params.id, body),
});

const deleteTag = defineDelete({
  ...tags.delete,
  description: [
    ...tags.delete.description,
    'Campaigns that have the tag are not updated, but filters by the tag no longer find them.',
    'Their briefs omit the tag.',
    'The name is free for another tag.',
  ],
  run: (app, { caller, params }) => app.tags.remove(caller.workspaceId, params.id),
});

export const tagOperations = [createTag, listTags, getTag, updateTag, deleteTag];
