import { z } from 'zod';
import {
  CONTENT_PILLAR_DESCRIPTION,
  CONTENT_PILLAR_STATUSES,
  CONTENT_PILLAR_TITLE,
} from '../../core/content-pillar/content-pillar.ts';
import { CONTENT_PILLAR_SORTS } from '../../core/content-pillar/content-pillar-service.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DEFAULT_PAGE_SIZE, PAGE_SIZES } from '../../core/shared/page.ts';
import { idList, pageFields, search, single, text } from './fields.ts';
import { listed, ok, operation } from './operation.ts';

const contentPillarReply = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  color: z.enum(COLORS),
  status: z.enum(CONTENT_PILLAR_STATUSES),
  authorId: z.string(),
  workspaceId: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

export const listContentPillars = operation({
  id: 'listContentPillars',
  method: 'GET',
  path: '/content-pillars',
  permission: 'read',
  query: z.strictObject({
    sortBy: single(z.enum(CONTENT_PILLAR_SORTS)).default('createdAt'),
    sortOrder: single(z.enum(['asc', 'desc'])).default('desc'),
    search,
    ids: idList,
    ...pageFields(DEFAULT_PAGE_SIZE, PAGE_SIZES.contentPillars),
  }),
  statuses: [200],
  reply: z.array(contentPillarReply),
  run: async (use, { caller, query }) => listed(await use.contentPillars.list(caller.workspaceId, query)),
});

export const updateContentPillar = operation({
  id: 'updateContentPillar',
  method: 'PATCH',
  path: '/content-pillars/{id}',
  permission: 'write',
  body: z.strictObject({
    title: text(CONTENT_PILLAR_TITLE).optional(),
    description: text(CONTENT_PILLAR_DESCRIPTION).optional(),
    color: z.enum(COLORS).optional(),
    status: z.enum(CONTENT_PILLAR_STATUSES).optional(),
  }),
  statuses: [200],
  reply: contentPillarReply,
  run: async (use, { caller, params, body }) =>
    ok(await use.contentPillars.update(caller.workspaceId, params.id, body)),
});

export const deleteContentPillar = operation({
  id: 'deleteContentPillar',
  method: 'DELETE',
  path: '/content-pillars/{id}',
  permission: 'write',
  statuses: [200],
  reply: z.object({ id: z.string() }),
  run: async (use, { caller, params }) => {
    await use.contentPillars.remove(caller.workspaceId, params.id);
    return ok({ id: params.id });
  },
});
