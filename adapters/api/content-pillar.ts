import { z } from 'zod';
import {
  CONTENT_PILLAR_DESCRIPTION,
  CONTENT_PILLAR_STATUSES,
  CONTENT_PILLAR_TITLE,
} from '../../core/content-pillar/content-pillar.ts';
import { CONTENT_PILLAR_SORTS } from '../../core/content-pillar/content-pillar-service.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DEFAULT_PAGE_SIZE, PAGE_SIZES } from '../../core/shared/page.ts';
import {
  createdAt,
  deletedRecord,
  idListParameter,
  LIST_PARAMETER_FORMAT,
  pageParameters,
  recordId,
  responseText,
  searchParameter,
  singleParameter,
  text,
  updatedAt,
  workspaceId,
} from './fields.ts';
import { defineOperation, respondOk, respondPage } from './operation.ts';

const contentPillarResponse = z
  .object({
    id: recordId,
    title: responseText(CONTENT_PILLAR_TITLE),
    description: responseText(CONTENT_PILLAR_DESCRIPTION).describe('Empty where there is none.'),
    color: z.enum(COLORS),
    status: z.enum(CONTENT_PILLAR_STATUSES),
    authorId: recordId.describe('The member who created it.'),
    workspaceId,
    createdAt,
    updatedAt,
  })
  .meta({ id: 'ContentPillar', description: 'A theme of content, with a color.' });

/** As the examples of the document show it. */
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

export const listContentPillars = defineOperation({
  id: 'listContentPillars',
  method: 'GET',
  path: '/content-pillars',
  permission: 'read',
  summary: 'List content pillars',
  description: 'Archived ones too. `Link` leads to the next and the previous page.',
  query: z.strictObject({
    sortBy: singleParameter(z.enum(CONTENT_PILLAR_SORTS)).default('createdAt').describe('What they are ordered by.'),
    sortOrder: singleParameter(z.enum(['asc', 'desc']))
      .default('desc')
      .describe('Ascending or descending.'),
    search: searchParameter.describe('Found in title or description, whatever the case.'),
    ids: idListParameter.describe(`These content pillars alone. ${LIST_PARAMETER_FORMAT}`),
    ...pageParameters(DEFAULT_PAGE_SIZE, PAGE_SIZES.contentPillars),
  }),
  statuses: [200],
  response: z.array(contentPillarResponse).max(PAGE_SIZES.contentPillars),
  example: { response: [example] },
  run: async (app, { caller, query }) => respondPage(await app.contentPillars.list(caller.workspaceId, query)),
});

export const updateContentPillar = defineOperation({
  id: 'updateContentPillar',
  method: 'PATCH',
  path: '/content-pillars/{id}',
  permission: 'write',
  summary: 'Update a content pillar',
  description: 'What is left out stays as it is. An archived one can be published again.',
  body: z
    .strictObject({
      title: text(CONTENT_PILLAR_TITLE).optional(),
      description: text(CONTENT_PILLAR_DESCRIPTION).optional(),
      color: z.enum(COLORS).optional(),
      status: z.enum(CONTENT_PILLAR_STATUSES).optional(),
    })
    .meta({ id: 'ContentPillarChange', description: 'What to change of a content pillar.' }),
  statuses: [200],
  response: contentPillarResponse,
  example: {
    body: { color: 'green', status: 'archived' },
    response: { ...example, color: 'green', status: 'archived' },
  },
  run: async (app, { caller, params, body }) =>
    respondOk(await app.contentPillars.update(caller.workspaceId, params.id, body)),
});

export const deleteContentPillar = defineOperation({
  id: 'deleteContentPillar',
  method: 'DELETE',
  path: '/content-pillars/{id}',
  permission: 'write',
  summary: 'Delete a content pillar',
  description: 'For good. Campaigns that it was assigned to stay as they are.',
  statuses: [200],
  response: deletedRecord,
  example: { response: { id: example.id } },
  run: async (app, { caller, params }) => {
    await app.contentPillars.remove(caller.workspaceId, params.id);
    return respondOk({ id: params.id });
  },
});
