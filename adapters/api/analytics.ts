import { z } from 'zod';
import { ANALYTICS_GROUPINGS, ANALYTICS_SORTS, isRangeAllowed, RANGE_ERROR } from '../../core/analytics/analytics.ts';
import {
  DEFAULT_ANALYTICS_DAYS,
  DEFAULT_PAGE_SIZE,
  MAX_ANALYTICS_DAYS,
  MAX_ANALYTICS_PAGE_SIZE,
  NAME_LENGTH,
} from '../../core/limits.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';

const analyticsRow = z
  .object({
    key: z
      .string()
      .meta({ maxLength: 36, pattern: '^[0-9a-f-]*$' })
      .describe('The day, or the ID of the campaign, member, group or tag. Empty for `groupBy=total`.'),
    name: field
      .responseText(NAME_LENGTH)
      .describe('The name of the record. Empty for a day, for the total, and for a deleted campaign or member.'),
    shares: field.count.describe('The number of shares. A member shares a campaign only once.'),
    clicks: field.count.describe('The number of clicks on short links.'),
    rewards: z
      .string()
      .meta({ maxLength: 40, pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,4})?$' })
      .describe('The amount that the shares and the clicks earned, as a decimal string.'),
  })
  .meta({ id: 'AnalyticsRow', description: 'Shares, clicks and rewards of a day, of a record, or in total.' });

const RANGE = `The range includes \`from\` and \`to\`, and has at most ${MAX_ANALYTICS_DAYS} days.`;

/** Returns whether both days are valid, even if other parameters are not. */
const areBoundsValid = ({ issues }: z.core.ParsePayload) =>
  !issues.some(({ path = [] }) => path[0] === 'from' || path[0] === 'to');

const getAnalytics = defineOperation({
  id: 'getAnalytics',
  method: 'GET',
  path: '/analytics',
  command: 'analytics',
  summary: 'Retrieve analytics',
  description: [
    'Returns the sums of shares, clicks and rewards over a range of days, by day or by record.',
    'Days are in UTC, and the figures of past days never change.',
    '`day` has a row for each day of the range, and `total` has one row.',
    'The other groupings have a row for each record that has a share, a click or a reward in the range.',
    '`group` and `tag` count the present groups of each member and the present tags of each campaign.',
    'So a share can count in several of their rows, or in none, and `groupIds` or `tagIds` also restrict the rows.',
    'In all other groupings, the rows add up to the total.',
    'Every key of the workspace can read the figures of all members: `groupBy=member` is the leaderboard.',
    'Rows with equal figures are in the order of their keys.',
  ],
  query: z
    .strictObject({
      groupBy: field
        .singleParameter(z.enum(ANALYTICS_GROUPINGS))
        .default('day')
        .describe('The rows: one for each day, campaign, member, group or tag, or one for the total.'),
      from: field.dayParameter.describe(
        `The first day, such as \`2026-01-31\`, in UTC. Default: ${DEFAULT_ANALYTICS_DAYS - 1} days before \`to\`.`,
      ),
      to: field.dayParameter.describe(`The last day, in UTC. Default: today. ${RANGE}`),
      campaignIds: field.idListParameter('Only shares of these campaigns.'),
      memberIds: field.idListParameter('Only shares by these members.'),
      groupIds: field.idListParameter('Only shares by members of at least one of these groups.'),
      tagIds: field.idListParameter('Only shares of campaigns with at least one of these tags.'),
      sortBy: field
        .enumParameter(ANALYTICS_SORTS)
        .describe('The sort field. Default: `key` for `groupBy=day`, otherwise `clicks`.'),
      sortOrder: field
        .enumParameter(['asc', 'desc'])
        .describe('The sort order. Default: `asc` for `key`, otherwise `desc`.'),
      ...field.pageParameters(DEFAULT_PAGE_SIZE, MAX_ANALYTICS_PAGE_SIZE),
      pageSize: field
        .wholeNumberParameter(1, MAX_ANALYTICS_PAGE_SIZE)
        .optional()
        .describe(
          `The number of rows per page, at most ${MAX_ANALYTICS_PAGE_SIZE}. Default: ${MAX_ANALYTICS_PAGE_SIZE} for \`groupBy=day\`, otherwise ${DEFAULT_PAGE_SIZE}.`,
        ),
    })
    .refine(isRangeAllowed, { path: [RANGE_ERROR.path], message: RANGE_ERROR.problem, when: areBoundsValid }),
  bars: ['clicks', 'shares', 'rewards'],
  response: z.array(analyticsRow).max(MAX_ANALYTICS_PAGE_SIZE),
  example: {
    query: { groupBy: 'member', pageSize: 10 },
    response: [
      { key: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a', name: 'Ada Pereira', shares: 3, clicks: 41, rewards: '12.5' },
    ],
  },
  run: (app, { caller, query }) => app.analytics.list(caller.workspaceId, query),
});

export const analyticsOperations = [getAnalytics];
