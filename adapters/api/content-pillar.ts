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
  deleted,
  idList,
  LISTED,
  pageFields,
  recordId,
  search,
  shown,
  single,
  text,
  updatedAt,
  workspaceId,
} from './fields.ts';
import { listed, ok, operation } from './operation.ts';

const contentPillarResponse = z
  .object({
    id: recordId,
    title: shown(CONTENT_PILLAR_TITLE),
    description: shown(CONTENT_PILLAR_DESCRIPTION).describe('Empty where there is none.'),
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

export const listContentPillars = operation({
  id: 'listContentPillars',
  method: 'GET',
  path: '/content-pillars',
  permission: 'read',
  summary: 'List content pillars',
  description: 'Archived ones too. `Link` leads to the next and the previous page.',
  query: z.strictObject({
    sortBy: single(z.enum(CONTENT_PILLAR_SORTS)).default('createdAt').describe('What they are ordered by.'),
    sortOrder: single(z.enum(['asc', 'desc']))
      .default('desc')
      .describe('Ascending or descending.'),
    search: search.describe('Found in title or description, whatever the case.'),
    ids: idList.describe(`These content pillars alone. ${LISTED}`),
    ...pageFields(DEFAULT_PAGE_SIZE, PAGE_SIZES.contentPillars),
  }),
  statuses: [200],
  response: z.array(contentPillarResponse).max(PAGE_SIZES.contentPillars),
  example: { response: [example] },
  run: async (app, { caller, query }) => listed(await app.contentPillars.list(caller.workspaceId, query)),
});

export const updateContentPillar = operation({
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
    ok(await app.contentPillars.update(caller.workspaceId, params.id, body)),
});

export const deleteContentPillar = operation({
  id: 'deleteContentPillar',
  method: 'DELETE',
  path: '/content-pillars/{id}',
  permission: 'write',
  summary: 'Delete a content pillar',
  description: 'For good. Campaigns that it was assigned to stay as they are.',
  statuses: [200],
  response: deleted,
  example: { response: { id: example.id } },
  run: async (app, { caller, params }) => {
    await app.contentPillars.remove(caller.workspaceId, params.id);
    return ok({ id: params.id });
  },
});
