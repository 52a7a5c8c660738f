import { z } from 'zod';
import { CONTENT_PILLAR_SORTS, CONTENT_PILLAR_STATUSES } from '../../core/content-pillar/content-pillar.ts';
import { CONTENT_PILLAR_DESCRIPTION_LENGTH, CONTENT_PILLAR_TITLE_LENGTH } from '../../core/limits.ts';
import { COLORS } from '../../core/shared/color.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UPDATE } from './record-operations.ts';

const STATUS =
  'The status. `published`: campaigns can use the content pillar. `archived`: campaigns that use it keep it, but no other campaign can start to use it. Lists contain both.';

const pillarFields = z.strictObject({
  title: field.text(CONTENT_PILLAR_TITLE_LENGTH).describe('The title.'),
  description: field.text(CONTENT_PILLAR_DESCRIPTION_LENGTH).describe('The description, possibly empty.'),
  color: z.enum(COLORS).describe('The color.'),
  status: z.enum(CONTENT_PILLAR_STATUSES).describe(STATUS),
});

const contentPillarResponse = z
  .object({
    id: field.recordId,
    title: field.responseText(CONTENT_PILLAR_TITLE_LENGTH).describe('The title.'),
    description: field.responseText(CONTENT_PILLAR_DESCRIPTION_LENGTH).describe('The description, or an empty string.'),
    color: z.enum(COLORS).describe('The color.'),
    status: z.enum(CONTENT_PILLAR_STATUSES).describe(STATUS),
    authorId: field.recordId.describe('The ID of the member who created the content pillar.'),
    workspaceId: field.workspaceId,
    createdAt: field.createdAt,
    updatedAt: field.updatedAt,
  })
  .meta({ id: 'ContentPillar', description: 'A theme that structures the content of a workspace.' });

const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e02',
  title: 'Made to last',
  description: 'Repair, materials and where they come from.',
  color: 'brown',
  status: 'published',
  authorId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a',
  workspaceId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0f',
  createdAt: '2026-05-20T08:15:00.000Z',
  updatedAt: '2026-05-21T10:00:00.000Z',
} as const;

const contentPillars = describeResource('content pillar', '/content-pillars', contentPillarResponse, example);

const createContentPillar = defineOperation({
  ...contentPillars.create,
  permission: 'author',
  description: ['Creates a published content pillar.', 'Its author is the calling member.'],
  body: pillarFields
    .partial({ description: true })
    .omit({ status: true })
    .meta({ id: 'CreateContentPillar', description: 'A content pillar to create.' }),
  example: { body: { title: example.title, color: example.color }, response: { ...example, description: '' } },
  run: (app, { caller, body }) => app.contentPillars.create(caller, body),
});

const listContentPillars = defineOperation({
  ...contentPillars.list,
  columns: ['id', 'title', 'color', 'status'],
  description: ['Returns the published and archived content pillars that match all filters.'],
  query: z.strictObject({
    ...field.sortParameters(
      CONTENT_PILLAR_SORTS,
      'The sort field. Titles are compared case-insensitively, by Unicode code point.',
    ),
    search: field.searchParameter.describe('Case-insensitive search in title and description.'),
    ids: field.idListParameter('Only the content pillars with these IDs.'),
    ...field.pageParameters(),
  }),
  run: (app, { caller, query }) => app.contentPillars.list(caller.workspaceId, query),
});

const getContentPillar = defineOperation({
  ...contentPillars.get,
  description: [...contentPillars.get.description, 'Archived content pillars are returned, too.'],
  run: (app, { caller, params }) => app.contentPillars.get(caller.workspaceId, params.id),
});

export const updateContentPillar = defineOperation({
  ...contentPillars.update,
  description: [...UPDATE, 'An archived content pillar can be published again.'],
  body: pillarFields
    .partial()
    .meta({ id: 'UpdateContentPillar', description: 'The fields of a content pillar to update.' }),
  example: {
    body: { color: 'green', status: 'archived' },
    response: { ...example, color: 'green', status: 'archived' },
  },
  run: (app, { caller, params, body }) => app.contentPillars.update(caller.workspaceId, params.id, body),
});

const deleteContentPillar = defineDelete({
  ...contentPillars.delete,
  description: [
    ...contentPillars.delete.description,
    'Campaigns that use it are not updated, but the content pillar of their briefs is `null`.',
  ],
  run: (app, { caller, params }) => app.contentPillars.remove(caller.workspaceId, params.id),
});

export const contentPillarOperations = [
  createContentPillar,
  listContentPillars,
  getContentPillar,
  updateContentPillar,
  deleteContentPillar,
];
