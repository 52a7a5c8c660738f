import { z } from 'zod';
import { ICONS, QUESTION, USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import { DEFAULT_PAGE_SIZE, PAGE_SIZES } from '../../core/shared/page.ts';
import { DESCRIPTION } from '../../core/shared/text.ts';
import { flag, idList, ids, pageFields, search, single, text } from './fields.ts';
import { created, listed, ok, operation } from './operation.ts';

const questionFields = z.strictObject({
  question: text(QUESTION),
  description: text(DESCRIPTION),
  icon: z.enum(ICONS),
  userType: z.enum(USER_TYPES),
  groups: ids,
  isActive: z.boolean(),
  archived: z.boolean(),
});

const questionReply = z.object({
  id: z.string(),
  workspaceId: z.string(),
  question: z.string(),
  description: z.string(),
  icon: z.enum(ICONS),
  userType: z.enum(USER_TYPES),
  groups: z.array(z.string()).readonly(),
  isActive: z.boolean(),
  archived: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

export const createInspirationQuestion = operation({
  id: 'createInspirationQuestion',
  method: 'POST',
  path: '/inspiration-questions',
  permission: 'write',
  body: questionFields.partial().required({ question: true }),
  statuses: [201],
  reply: questionReply,
  run: async (use, { caller, body }) => created(await use.inspirationQuestions.create(caller.workspaceId, body)),
});

export const listInspirationQuestions = operation({
  id: 'listInspirationQuestions',
  method: 'GET',
  path: '/inspiration-questions',
  permission: 'read',
  query: z.strictObject({
    search,
    userType: single(z.enum(USER_TYPES)).optional(),
    groupIds: idList,
    includeArchived: flag.default(false),
    isActive: flag.optional(),
    availableToMe: flag.default(false),
    ...pageFields(DEFAULT_PAGE_SIZE, PAGE_SIZES.inspirationQuestions),
  }),
  statuses: [200],
  reply: z.array(questionReply),
  run: async (use, { caller, query }) => listed(await use.inspirationQuestions.list(caller, query)),
});

export const updateInspirationQuestion = operation({
  id: 'updateInspirationQuestion',
  method: 'PATCH',
  path: '/inspiration-questions/{id}',
  permission: 'write',
  body: questionFields.partial(),
  statuses: [200],
  reply: questionReply,
  run: async (use, { caller, params, body }) =>
    ok(await use.inspirationQuestions.update(caller.workspaceId, params.id, body)),
});

export const deleteInspirationQuestion = operation({
  id: 'deleteInspirationQuestion',
  method: 'DELETE',
  path: '/inspiration-questions/{id}',
  permission: 'write',
  statuses: [200],
  reply: z.object({ id: z.string() }),
  run: async (use, { caller, params }) => {
    await use.inspirationQuestions.remove(caller.workspaceId, params.id);
    return ok({ id: params.id });
  },
});
