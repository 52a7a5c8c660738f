import { z } from 'zod';
import { GROUP_NAME } from '../../core/group/group.ts';
import { DESCRIPTION } from '../../core/shared/text.ts';
import { text } from './fields.ts';
import { created, operation } from './operation.ts';

export const createGroup = operation({
  id: 'createGroup',
  method: 'POST',
  path: '/groups',
  permission: 'write',
  body: z.strictObject({ name: text(GROUP_NAME), description: text(DESCRIPTION).optional() }),
  statuses: [201],
  reply: z.object({ id: z.string(), name: z.string(), count: z.number(), createdAt: z.string() }),
  run: async (use, { caller, body }) => created(await use.groups.create(caller.workspaceId, body)),
});
