import { z } from 'zod';
import { ICONS, QUESTION, USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import { DEFAULT_PAGE_SIZE, PAGE_SIZES } from '../../core/shared/page.ts';
import { DESCRIPTION } from '../../core/shared/text.ts';
import {
  booleanParameter,
  createdAt,
  deletedRecord,
  idListParameter,
  ids,
  LIST_PARAMETER_FORMAT,
  MAX_ITEM_COUNT,
  pageParameters,
  recordId,
  responseText,
  searchParameter,
  singleParameter,
  text,
  updatedAt,
  workspaceId,
} from './fields.ts';
import { defineOperation, respondCreated, respondOk, respondPage } from './operation.ts';

const icon = z.enum(ICONS).meta({ id: 'Icon', description: 'The name of an icon.' });

const questionFields = z.strictObject({
  question: text(QUESTION),
  description: text(DESCRIPTION).describe('A hint for who answers; empty where it is left out at creation.'),
  icon: icon.describe('`bulb` where it is left out at creation.'),
  userType: z.enum(USER_TYPES).describe('Whom it is for; `all` where it is left out at creation.'),
  groups: ids.describe('Groups of the workspace that it is for; for all where there is none.'),
  isActive: z.boolean().describe('`true` where it is left out at creation.'),
  archived: z.boolean().describe('`false` where it is left out at creation.'),
});

const questionResponse = z
  .object({
    id: recordId,
    workspaceId,
    question: responseText(QUESTION),
    description: responseText(DESCRIPTION).describe('Empty where there is none.'),
    icon,
    userType: z.enum(USER_TYPES).describe('Whom it is for.'),
    groups: z
      .array(recordId)
      .max(MAX_ITEM_COUNT)
      .readonly()
      .describe('The groups that it is for; for all where there is none.'),
    isActive: z.boolean(),
    archived: z.boolean(),
    createdAt,
    updatedAt,
  })
  .meta({ id: 'InspirationQuestion', description: 'A prompt for what employees could write about.' });

/** As the examples of the document show it. */
const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e06',
  workspaceId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0f',
  question: 'What surprised you in your first week?',
  description: '',
  icon: 'sun',
  userType: 'all',
  groups: [],
  isActive: true,
  archived: false,
  createdAt: '2026-05-20T08:15:00.000Z',
  updatedAt: '2026-05-20T08:15:00.000Z',
} as const;

export const createInspirationQuestion = defineOperation({
  id: 'createInspirationQuestion',
  method: 'POST',
  path: '/inspiration-questions',
  permission: 'write',
  summary: 'Create an inspiration question',
  description: 'Only `question` is required. It is available while it is active and not archived.',
  body: questionFields
    .partial()
    .required({ question: true })
    .meta({ id: 'NewInspirationQuestion', description: 'An inspiration question to create.' }),
  statuses: [201],
  response: questionResponse,
  example: { body: { question: example.question, icon: example.icon }, response: example },
  run: async (app, { caller, body }) => respondCreated(await app.inspirationQuestions.create(caller.workspaceId, body)),
});

export const listInspirationQuestions = defineOperation({
  id: 'listInspirationQuestions',
  method: 'GET',
  path: '/inspiration-questions',
  permission: 'read',
  summary: 'List inspiration questions',
  description: 'Newest first. `Link` leads to the next and the previous page.',
  query: z.strictObject({
    search: searchParameter.describe('Found in question or description, whatever the case.'),
    userType: singleParameter(z.enum(USER_TYPES)).optional().describe('Whom they are for, exactly.'),
    groupIds: idListParameter.describe(`For one of these groups. ${LIST_PARAMETER_FORMAT}`),
    includeArchived: booleanParameter.default(false).describe('Archived questions too.'),
    isActive: booleanParameter.optional().describe('Active ones alone, or inactive ones alone.'),
    availableToMe: booleanParameter
      .default(false)
      .describe(
        "Those alone that are active, not archived, for all or the seat type of the key's member, and for no group or one " +
          'of its groups. With a key of no member: those that are for all and no group.',
      ),
    ...pageParameters(DEFAULT_PAGE_SIZE, PAGE_SIZES.inspirationQuestions),
  }),
  statuses: [200],
  response: z.array(questionResponse).max(PAGE_SIZES.inspirationQuestions),
  example: { response: [example] },
  run: async (app, { caller, query }) => respondPage(await app.inspirationQuestions.list(caller, query)),
});

export const updateInspirationQuestion = defineOperation({
  id: 'updateInspirationQuestion',
  method: 'PATCH',
  path: '/inspiration-questions/{id}',
  permission: 'write',
  summary: 'Update an inspiration question',
  description: 'What is left out stays as it is.',
  body: questionFields
    .partial()
    .meta({ id: 'InspirationQuestionChange', description: 'What to change of an inspiration question.' }),
  statuses: [200],
  response: questionResponse,
  example: {
    body: { icon: 'star', isActive: false },
    response: { ...example, icon: 'star', isActive: false, updatedAt: '2026-05-21T10:00:00.000Z' },
  },
  run: async (app, { caller, params, body }) =>
    respondOk(await app.inspirationQuestions.update(caller.workspaceId, params.id, body)),
});

export const deleteInspirationQuestion = defineOperation({
  id: 'deleteInspirationQuestion',
  method: 'DELETE',
  path: '/inspiration-questions/{id}',
  permission: 'write',
  summary: 'Delete an inspiration question',
  description: 'For good.',
  statuses: [200],
  response: deletedRecord,
  example: { response: { id: example.id } },
  run: async (app, { caller, params }) => {
    await app.inspirationQuestions.remove(caller.workspaceId, params.id);
    return respondOk({ id: params.id });
  },
});
