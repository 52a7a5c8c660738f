import { z } from 'zod';
import { EVENT_TYPES, type EventType } from '../../core/event/event.ts';
import { DEFAULT_PAGE_SIZE, EVENT_TTL_DAYS, MAX_PAGE_SIZE } from '../../core/limits.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';

/** What each type reports, with the IDs in `data`. */
const typeDescriptions: Readonly<Record<EventType, string>> = {
  'campaign.published': 'A campaign was published, or created as published (`campaignId`).',
  'campaign.archived': 'A campaign was archived (`campaignId`).',
  'campaign.budget_exhausted': 'A reward used up the `totalBudget` of a campaign (`campaignId`).',
  'share.created': 'A member shared a campaign for the first time (`campaignId`, `memberId`).',
  'member.created': 'A member was created (`memberId`).',
  'member.accepted': 'A member accepted the invitation (`memberId`).',
  'member.updated': 'Other fields of a member changed (`memberId`).',
  'member.deleted': 'A member was deleted (`memberId`).',
  'domain.verified': 'A domain was verified (`domainId`).',
  'webhook.disabled': 'A webhook was disabled after 5 days of failures, or a status 410 (`webhookId`).',
};
const typeList = EVENT_TYPES.map((type) => `- \`${type}\`: ${typeDescriptions[type]}`).join('\n');

const eventResponse = z
  .object({
    id: field.recordId,
    sequence: field.count.describe('The number of the event in the workspace: 1, 2, 3 and so on, without gaps.'),
    type: z.enum(EVENT_TYPES).describe(`The type of the event, with the fields of \`data\`:\n\n${typeList}`),
    createdAt: field.createdAt,
    data: z
      .object({
        campaignId: field.recordId.describe('The campaign, for `campaign.…` and `share.created`.').optional(),
        memberId: field.recordId.describe('The member, for `member.…` and `share.created`.').optional(),
        domainId: field.recordId.describe('The domain, for `domain.verified`.').optional(),
        webhookId: field.recordId.describe('The webhook, for `webhook.disabled`.').optional(),
      })
      .describe('The IDs of the records that changed. Each type always has the same fields.'),
  })
  .meta({ id: 'Event', description: 'A change in the workspace that integrations can act on.' });

const listEvents = defineOperation({
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  command: 'event list',
  columns: ['sequence', 'type', 'createdAt', 'data'],
  permission: 'inspect',
  summary: 'List events',
  description: [
    'Returns the events after a sequence, oldest first.',
    'Keep the sequence of the last event that you have read, and send it as `after`.',
    'Then you miss no event, and get no event twice.',
    `Events are kept for ${EVENT_TTL_DAYS} days.`,
    'If `after` is older than the oldest event, the list starts at the oldest event.',
    'Events have only IDs, so read the records for their present state.',
  ],
  query: z.strictObject({
    after: field.wholeNumberParameter(0).default(0).describe('Only events with a greater sequence.'),
    types: field.enumListParameter(EVENT_TYPES).describe(`Only these types:\n\n${typeList}\n\nBy default, all types.`),
    pageSize: field.pageSizeParameter(DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
  }),
  response: z.array(eventResponse).max(MAX_PAGE_SIZE),
  example: {
    query: { types: ['share.created'] },
    response: [
      {
        id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e20',
        sequence: 42,
        type: 'share.created',
        createdAt: '2026-06-02T09:30:00.000Z',
        data: {
          campaignId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e01',
          memberId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a',
        },
      },
    ],
  },
  run: (app, { caller, query }) => app.events.list(caller.workspaceId, query),
});

export const eventOperations = [listEvents];
