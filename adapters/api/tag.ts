import { z } from 'zod';
import { COLORS } from '../../core/shared/color.ts';
import { TAG_NAME, tagNameProblem } from '../../core/tag/tag.ts';
import { text } from './fields.ts';
import { created, ok, operation } from './operation.ts';

const tagBody = z.strictObject({ name: text(TAG_NAME, tagNameProblem) });
const tagReply = z.object({ id: z.string(), name: z.string(), color: z.enum(COLORS) });

export const createTag = operation({
  id: 'createTag',
  method: 'POST',
  path: '/tags',
  permission: 'write',
  body: tagBody,
  statuses: [201],
  reply: tagReply,
  run: async (use, { caller, body }) => created(await use.tags.create(caller.workspaceId, body.name)),
});

export const updateTag = operation({
  id: 'updateTag',
  method: 'PATCH',
  path: '/tags/{id}',
  permission: 'write',
  body: tagBody,
  statuses: [200],
  reply: tagReply,
  run: async (use, { caller, params, body }) => ok(await use.tags.rename(caller.workspaceId, params.id, body.name)),
});
