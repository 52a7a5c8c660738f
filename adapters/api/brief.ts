import { z } from 'zod';
import {
  CONTENT_PILLAR_TITLE_LENGTH,
  DESCRIPTION_LENGTH,
  MAX_CAMPAIGN_PAGE_SIZE,
  MAX_ITEM_COUNT,
  MAX_RESOURCE_COUNT,
  MAX_SLUG_LENGTH,
  NAME_LENGTH,
  RESOURCE_LABEL_LENGTH,
  URL_LENGTH,
} from '../../core/limits.ts';
import { COLORS } from '../../core/shared/color.ts';
import { exampleResource, resourceType } from './campaign.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { tagExample, tagResponse } from './tag.ts';

const url = field.responseText(URL_LENGTH);
const label = field.responseText(RESOURCE_LABEL_LENGTH);

const briefResource = z
  .object({
    url: url.describe('The URL.'),
    type: resourceType.nullable().describe('The type, or `null`.'),
    mimeType: label.nullable().describe('The MIME type, or `null`.'),
    size: field.nonNegativeNumber.nullable().describe('The size in bytes, or `null`.'),
    width: field.nonNegativeNumber.nullable().describe('The width in pixels, or `null`.'),
    height: field.nonNegativeNumber.nullable().describe('The height in pixels, or `null`.'),
    thumbnailUrl: url.nullable().describe('The URL of a preview image, or `null`.'),
    language: label.nullable().describe('The language, or `null`.'),
    order: field.nonNegativeNumber.nullable().describe('The sort order among the resources, or `null`.'),
  })
  .meta({ id: 'BriefResource', description: 'A file or link of a campaign, such as an image, a video or a document.' });

const briefResponse = z
  .object({
    campaignId: field.recordId.describe('The ID of the campaign.'),
    shareContext: field.responseText(DESCRIPTION_LENGTH).describe('Background information, or an empty string.'),
    objective: field.responseText(DESCRIPTION_LENGTH).describe('The goal of the campaign, or an empty string.'),
    image: url.nullable().describe('The URL of an image, or `null`.'),
    domain: field.responseText({ max: MAX_SLUG_LENGTH }).nullable().describe('The slug of the domain, or `null`.'),
    resources: z.array(briefResource).max(MAX_RESOURCE_COUNT).readonly().describe('The files and links to share.'),
    tags: z.array(tagResponse).max(MAX_ITEM_COUNT).readonly().describe('The tags. Deleted tags are omitted.'),
    groups: z
      .array(
        z
          .object({ id: field.recordId, name: field.responseText(NAME_LENGTH).describe('The name.') })
          .meta({ id: 'BriefGroup', description: 'A group of a campaign.' }),
      )
      .max(MAX_ITEM_COUNT)
      .readonly()
      .describe('The groups that the campaign is for.'),
    contentPillar: z
      .object({
        id: field.recordId,
        title: field.responseText(CONTENT_PILLAR_TITLE_LENGTH).describe('The title.'),
        color: z.enum(COLORS).describe('The color.'),
      })
      .nullable()
      .describe('The content pillar, or `null` if there is none, or if it was deleted.'),
    shareRewardAmount: field.responseAmount.describe('The reward for the first share of a member.'),
    clickRewardAmount: field.responseAmount.describe('The reward for a click.'),
    maxRewardPerEmployee: field.responseAmount.describe('The maximum of all rewards of one employee. `0`: no rewards.'),
    totalBudget: field.responseAmount.describe('The maximum of all rewards of the campaign. `0`: no rewards.'),
    rewardsSpent: field.responseAmount.describe('The sum of the rewards of all shares.'),
    createdBy: field.recordId.nullable().describe('The ID of the member who created the campaign, or `null`.'),
    updatedAt: field.updatedAt,
  })
  .meta({ id: 'Brief', description: 'The fields and records that an employee needs to share a campaign.' });

const example = {
  campaignId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e01',
  shareContext: 'Say in your own words what you would take on your next trip.',
  objective: 'Reach hikers before the summer.',
  image: 'https://northwind.example/tents.jpg',
  domain: 'links.example.com',
  resources: [exampleResource],
  tags: [tagExample],
  groups: [{ id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e04', name: 'Lisbon' }],
  contentPillar: { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e02', title: 'Made to last', color: 'brown' },
  shareRewardAmount: '1.50',
  clickRewardAmount: '0.05',
  maxRewardPerEmployee: '50',
  totalBudget: '1000',
  rewardsSpent: '84.25',
  createdBy: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a',
  updatedAt: '2026-05-21T10:00:00.000Z',
} as const;

const getCampaignBrief = defineOperation({
  id: 'getCampaignBrief',
  method: 'GET',
  path: '/campaigns/{id}/brief',
  command: 'campaign brief',
  summary: 'Retrieve a campaign brief',
  description: [
    'Returns the fields that an employee needs to share the campaign and that `GET /campaigns/{id}` omits.',
    'It also contains the tags, groups and content pillar of the campaign.',
  ],
  response: briefResponse,
  example: {
    response: example,
  },
  run: (app, { caller, params }) => app.campaigns.getBrief(caller.workspaceId, params.id),
});

const listBriefs = defineOperation({
  id: 'listBriefs',
  method: 'GET',
  path: '/briefs',
  command: 'brief list',
  columns: ['campaignId', 'objective', 'updatedAt'],
  summary: 'List campaign briefs',
  description: [
    'Returns the briefs of several campaigns, in the order of `campaignIds`.',
    'IDs that the workspace does not have are omitted.',
  ],
  query: z.strictObject({
    campaignIds: field
      .requiredIdListParameter(MAX_CAMPAIGN_PAGE_SIZE)
      .describe(
        `The IDs of 1 to ${MAX_CAMPAIGN_PAGE_SIZE} campaigns. Repeat the parameter or separate the values with commas. Duplicates are dropped.`,
      ),
  }),
  response: z.array(briefResponse).max(MAX_CAMPAIGN_PAGE_SIZE),
  example: { query: { campaignIds: [example.campaignId] }, response: [example] },
  run: async (app, { caller, query }) => {
    const briefs = await app.campaigns.getBriefs(caller.workspaceId, query.campaignIds);
    return { items: briefs, hasNext: false };
  },
});

export const briefOperations = [getCampaignBrief, listBriefs];
