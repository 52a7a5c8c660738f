import { z } from 'zod';
import { ICONS, USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import { DESCRIPTION_LENGTH, MAX_ITEM_COUNT, QUESTION_LENGTH } from '../../core/limits.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UPDATE } from './record-operations.ts';

const icon = z.enum(ICONS).meta({ id: 'Icon', description: 'The name of an icon.' });

const questionFields = z.strictObject({
  question: field.text(QUESTION_LENGTH).describe('The question.'),
  description: field.text(DESCRIPTION_LENGTH).describe('Help text. Default on creation: empty.'),
  icon: icon.describe('The icon. Default on creation: `bulb`.'),
  userType: z
    .enum(USER_TYPES)
    .describe(
      'Which members the question is for: those with the seat type `thought_leader` or `advocate`, or `all`. Default on creation: `all`.',
    ),
  groups: field.ids.describe(
    `The IDs of up to ${MAX_ITEM_COUNT} groups of the workspace that the question is for. Duplicates are dropped. An empty array means no restriction (default on creation).`,
  ),
  isActive: z.boolean().describe('Whether the question is active. Default on creation: `true`.'),
  archived: z.boolean().describe('Whether the question is archived. Default on creation: `false`.'),
});

const questionResponse = z
  .object({
    id: field.recordId,
    workspaceId: field.workspaceId,
    question: field.responseText(QUESTION_LENGTH).describe('The question.'),
    description: field.responseText(DESCRIPTION_LENGTH).describe('Help text, or an empty string.'),
    icon: icon.describe('The icon.'),
    userType: z
      .enum(USER_TYPES)
      .describe(
        'Which members the question is for: those with the seat type `thought_leader` or `advocate`, or `all`.',
      ),
    groups: z
      .array(field.recordId)
      .max(MAX_ITEM_COUNT)
      .readonly()
      .describe('The IDs of the groups that the question is for. An empty array means no restriction.'),
    isActive: z.boolean().describe('Whether the question is active.'),
    archived: z.boolean().describe('Whether the question is archived.'),
    createdAt: field.createdAt,
    updatedAt: field.updatedAt,
  })
  .meta({ id: 'InspirationQuestion', description: 'A prompt that suggests a topic to write about.' });

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

const inspirationQuestions = describeResource(
  'inspiration question',
  '/inspiration-questions',
  questionResponse,
  example,
);

export const createInspirationQuestion = defineOperation({
  ...inspirationQuestions.create,
  description: [
    'Creates an inspiration question.',
    'Only `question` is required.',
    'Members can use a question while it is active and not archived.',
  ],
  body: questionFields
    .partial()
    .required({ question: true })
    .meta({ id: 'CreateInspirationQuestion', description: 'An inspiration question to create.' }),
  example: { body: { question: example.question, icon: example.icon }, response: example },
  run: (app, { caller, body }) => app.inspirationQuestions.create(caller.workspaceId, body),
});

const listInspirationQuestions = defineOperation({
  ...inspirationQuestions.list,
  columns: ['id', 'question', 'userType', 'isActive', 'archived'],
  description: [
    'Returns the inspiration questions that match all filters, newest first.',
    'Archived questions are omitted by default.',
  ],
  query: z.strictObject({
    search: field.searchParameter.describe('Case-insensitive search in question and description.'),
    userType: field
      .enumParameter(USER_TYPES)
      .describe(
        'Only questions with this `userType`. `thought_leader` and `advocate` omit questions whose `userType` is `all`.',
      ),
    groupIds: field.idListParameter(
      `Only questions whose \`groups\` contain at least one of these IDs. Questions without groups are omitted.`,
    ),
    includeArchived: field.booleanParameter.default(false).describe('Whether to include archived questions.'),
    isActive: field.booleanParameter
      .optional()
      .describe('`true`: only active questions. `false`: only inactive questions. By default, both.'),
    availableToMe: field.booleanParameter
      .default(false)
      .describe(
        '`true`: only active questions for the seat type and a group of the member that the API key belongs to. A question ' +
          'without groups is for all groups. A key without a member gets the questions for all members. `false`: no filter.',
      ),
    ...field.pageParameters(),
  }),
  run: (app, { caller, query }) => app.inspirationQuestions.list(caller, query),
});

const getInspirationQuestion = defineOperation({
  ...inspirationQuestions.get,
  description: [...inspirationQuestions.get.description, 'Archived questions are returned, too.'],
  run: (app, { caller, params }) => app.inspirationQuestions.get(caller.workspaceId, params.id),
});

const updateInspirationQuestion = defineOperation({
  ...inspirationQuestions.update,
  description: UPDATE,
  body: questionFields
    .partial()
    .meta({ id: 'UpdateInspirationQuestion', description: 'The fields of an inspiration question to update.' }),
  example: {
    body: { icon: 'star', isActive: false },
    response: { ...example, icon: 'star', isActive: false, updatedAt: '2026-05-21T10:00:00.000Z' },
  },
  run: (app, { caller, params, body }) => app.inspirationQuestions.update(caller.workspaceId, params.id, body),
});

const deleteInspirationQuestion = defineDelete({
  ...inspirationQuestions.delete,
  run: (app, { caller, params }) => app.inspirationQuestions.remove(caller.workspaceId, params.id),
});

export const inspirationQuestionOperations = [
  createInspirationQuestion,
  listInspirationQuestions,
  getInspirationQuestion,
  updateInspirationQuestion,
  deleteInspirationQuestion,
];
