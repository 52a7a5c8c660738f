import { z } from 'zod';
import {
  CAMPAIGN_DATE_FILTERS,
  CAMPAIGN_SORTS,
  CAMPAIGN_STATUSES,
  type CampaignChange,
  type CampaignResource,
  END_BEFORE_START,
  findDateError,
  RESOURCE_TYPES,
  statusTransitions,
} from '../../core/campaign/campaign.ts';
import {
  DESCRIPTION_LENGTH,
  MAX_CAMPAIGN_PAGE_SIZE,
  MAX_ITEM_COUNT,
  MAX_RESOURCE_COUNT,
  NAME_LENGTH,
  RESOURCE_LABEL_LENGTH,
  URL_LENGTH,
} from '../../core/limits.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UPDATE } from './record-operations.ts';

const STATUS_MEANINGS =
  '`draft`: every key of the workspace can read the campaign, but nobody can share it. `published`: between `startDate` and `endDate`, members can share it, and its short links lead to its `destinationUrl`. `archived`: nobody can share it, lists omit it by default, and its short links have expired.';

const transitions = CAMPAIGN_STATUSES.map((status) => `from ${status} to ${statusTransitions[status].join(' or ')}`);
/** The allowed changes of the status, as text. `Intl.ListFormat` would add 30 ms to the start. */
export const STATUS_TRANSITIONS = `${transitions.slice(0, -1).join(', ')}, and ${transitions.at(-1)}`;

const destinationUrl = field.httpUrlOrEmpty.transform((url) => url || null);
const DESTINATION_URL =
  'The target of the short link: an http or https URL of at most 2,048 characters when percent-encoded, or an empty string for none.';

const TARGET_SHARES = 'The target number of shares: a whole number, or a string of its digits.';

export const resourceType = z
  .enum(RESOURCE_TYPES)
  .meta({ id: 'ResourceType', description: 'The type of a file or link of a campaign.' });

const resource = z.union([
  field.httpUrl.transform((url) => ({ url })).describe('The URL of the resource.'),
  z
    .strictObject({
      url: field.httpUrl.describe('The URL of the resource (http or https).'),
      type: resourceType.nullish().describe('The type of the resource.'),
      mimeType: field.text(RESOURCE_LABEL_LENGTH).nullish().describe('The MIME type, for example `image/png`.'),
      size: field.nonNegativeNumber.nullish().describe('The size in bytes.'),
      width: field.nonNegativeNumber.nullish().describe('The width in pixels.'),
      height: field.nonNegativeNumber.nullish().describe('The height in pixels.'),
      thumbnailUrl: field.httpUrl.nullish().describe('The URL of a preview image (http or https).'),
      language: field.text(RESOURCE_LABEL_LENGTH).nullish().describe('The language, for example `en` or `pt-PT`.'),
      order: field.nonNegativeNumber.nullish().describe('Sort order among the resources of the campaign.'),
    })
    .meta({
      id: 'CampaignResource',
      description:
        'A file or link of a campaign, such as an image, a video or a document. `null` counts as an omitted field.',
    })
    .transform(({ url, ...fields }) => {
      const sentFields = Object.entries(fields).filter(([, value]) => value !== null);
      return { url, ...Object.fromEntries(sentFields) } as CampaignResource;
    }),
]);

/** Validates at most one item more than allowed, so that rejecting a long list is cheap. */
const resources = z.preprocess(
  (items) => (Array.isArray(items) ? items.slice(0, MAX_RESOURCE_COUNT + 1) : items),
  z.array(resource).max(MAX_RESOURCE_COUNT),
);

const campaignFields = z.strictObject({
  name: field.text(NAME_LENGTH).describe('The name of the campaign.'),
  description: field.text(DESCRIPTION_LENGTH).describe('The description of the campaign, possibly empty.'),
  shareContext: field
    .text(DESCRIPTION_LENGTH)
    .describe('Background information for the employees who share the campaign, possibly empty.'),
  objective: field.text(DESCRIPTION_LENGTH).describe('The goal of the campaign, possibly empty.'),
  status: z.enum(CAMPAIGN_STATUSES).describe(`The status. ${STATUS_MEANINGS}`),
  destinationUrl: destinationUrl.describe(DESTINATION_URL),
  startDate: field.startDate.describe(
    'The start: a date (00:00 UTC of that day) or an ISO 8601 date-time (UTC if it has no offset).',
  ),
  endDate: field.endDate.describe(
    'The end: a date (the end of that day, UTC) or an ISO 8601 date-time (UTC if it has no offset). Must not be before `startDate`.',
  ),
  shareRewardAmount: field.amount.describe('The reward for the first share of a member.'),
  clickRewardAmount: field.amount.describe('The reward for a click.'),
  maxRewardPerEmployee: field.amount.describe('The maximum of all rewards of one employee. `0`: no rewards.'),
  totalBudget: field.amount.describe('The maximum of all rewards of the campaign. `0`: no rewards.'),
  domain: field.slug
    .nullish()
    .describe(
      'The slug of the domain for the short links. The domain must belong to the workspace and must not be archived.',
    ),
  image: field.httpUrl.nullish().describe('The URL of an image (http or https).'),
  tagIds: field.ids
    .optional()
    .describe(`The IDs of up to ${MAX_ITEM_COUNT} tags of the workspace. Duplicates are dropped.`),
  groupIds: field.ids
    .optional()
    .describe(
      `The IDs of up to ${MAX_ITEM_COUNT} groups of the workspace. Duplicates are dropped. An empty array means no restriction. Groups restrict \`availableToMe\`, but not reading or sharing.`,
    ),
  resources: resources
    .optional()
    .describe(`Up to ${MAX_RESOURCE_COUNT} files or links to share: objects, or strings that contain only the URL.`),
  targetShares: field.wholeNumber.optional().describe(TARGET_SHARES),
  contentPillarId: field.id.nullish().describe('The ID of a content pillar of the workspace. It must not be archived.'),
});

/** Options of the date check. With `when`, the check also runs if other fields are invalid. */
const DATE_ORDER = { path: [END_BEFORE_START.path], message: END_BEFORE_START.problem, when: () => true };

/** Returns `false` if a campaign would end before it starts. A missing or invalid date has no `time`, and passes. */
const isInDateOrder = (dates: CampaignChange): boolean => findDateError(dates) === undefined;

const campaignResponse = z
  .object({
    id: field.recordId,
    name: field.responseText(NAME_LENGTH).describe('The name of the campaign.'),
    status: z.enum(CAMPAIGN_STATUSES).describe(`The status. ${STATUS_MEANINGS}`),
    createdAt: field.createdAt,
    description: field.responseText(DESCRIPTION_LENGTH).describe('The description of the campaign, possibly empty.'),
    destinationUrl: field
      .responseText(URL_LENGTH)
      .nullable()
      .describe('The target of the short link, or `null` if there is none.'),
    clicks: field.count.describe('The number of clicks on the short links of the campaign.'),
    shares: field.count.describe('The number of members who shared the campaign.'),
    startDate: field.responseText({ max: 35 }).describe('The start: a date or a date-time, as it was sent.'),
    endDate: field.responseText({ max: 35 }).describe('The end: a date or a date-time, as it was sent.'),
    targetShares: field.count.nullable().describe('The target number of shares, or `null` if there is none.'),
    hasShared: z
      .boolean()
      .optional()
      .describe(
        'Whether the member that the API key belongs to has shared the campaign. Absent if the key does not belong to a member.',
      ),
  })
  .meta({ id: 'Campaign', description: 'Content that employees share.' });

const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e01',
  name: 'Summer tents are here',
  status: 'published',
  createdAt: '2026-05-20T08:15:00.000Z',
  description: 'Our lightest tents yet, made to be repaired.',
  destinationUrl: 'https://northwind.example/tents',
  clicks: 128,
  shares: 2,
  startDate: '2026-06-01',
  endDate: '2026-06-30T18:00:00+02:00',
  targetShares: 50,
  hasShared: true,
} as const;

const campaigns = describeResource('campaign', '/campaigns', campaignResponse, example, MAX_CAMPAIGN_PAGE_SIZE);

/** The resource of the campaign in the examples. */
export const exampleResource = {
  url: 'https://northwind.example/tents.mp4',
  type: 'video',
  mimeType: 'video/mp4',
  size: 4_200_000,
  width: 1920,
  height: 1080,
  thumbnailUrl: 'https://northwind.example/tents-small.jpg',
  language: 'en',
  order: 1,
} as const;

export const createCampaign = defineOperation({
  ...campaigns.create,
  description: [
    'Creates a campaign.',
    'Its creator is the calling member, if any.',
    'The tags, groups, content pillar and domain of the request must exist in the workspace (422 otherwise).',
  ],
  body: campaignFields
    .refine(isInDateOrder, DATE_ORDER)
    .meta({ id: 'CreateCampaign', description: 'A campaign to create.' }),
  example: {
    body: {
      name: example.name,
      description: example.description,
      shareContext: 'Say in your own words what you would take on your next trip.',
      objective: 'Reach hikers before the summer.',
      status: example.status,
      destinationUrl: example.destinationUrl,
      startDate: example.startDate,
      endDate: example.endDate,
      shareRewardAmount: '1.50',
      clickRewardAmount: 0.05,
      maxRewardPerEmployee: 50,
      totalBudget: '1000',
      image: 'https://northwind.example/tents.jpg',
      resources: ['https://northwind.example/tents.pdf', exampleResource],
      targetShares: 50,
    },
    response: { ...example, clicks: 0, shares: 0, hasShared: false },
  },
  run: (app, { caller, body }) => app.campaigns.create(caller, body),
});

const listCampaigns = defineOperation({
  ...campaigns.list,
  columns: ['id', 'name', 'status', 'startDate', 'endDate', 'shares', 'clicks'],
  description: [
    'Returns the campaigns that match all filters, in descending order of the field that `sortBy` names.',
    'Archived campaigns are omitted by default.',
  ],
  query: z.strictObject({
    domain: field.slugParameter.describe(
      'Only campaigns with the domain that has this slug. By default, all campaigns, with or without a domain.',
    ),
    tagIds: field.idListParameter('Only campaigns with at least one of the tags that have these IDs.'),
    tagNames: field.nameListParameter(
      'Only campaigns with at least one of the tags that have these names (case-insensitive).',
    ),
    userId: field.idParameter.describe(
      'Only campaigns that the member with this ID created (`createdBy` of the brief).',
    ),
    groupIds: field.idListParameter('Only campaigns with at least one of the groups that have these IDs.'),
    status: field
      .enumListParameter(CAMPAIGN_STATUSES)
      .describe(
        'Only campaigns with one of these statuses. `archived` includes archived campaigns without `includeArchived`.',
      ),
    availableToMe: field.booleanParameter
      .default(false)
      .describe(
        '`true`: only campaigns that are published, have started and have not ended, and that are for a group of the member of the API key. A campaign without groups is for all members. A key without a member gets only such campaigns. `false`: no filter.',
      ),
    includeArchived: field.booleanParameter.default(false).describe('Whether to include archived campaigns.'),
    filter: field
      .enumParameter(CAMPAIGN_DATE_FILTERS)
      .describe(
        'Filters by date. `upcoming`: not started yet. `active`: started and not ended. `non-upcoming`: started, whether ended or not. Drafts are included.',
      ),
    search: field.searchParameter.describe('Case-insensitive search in name and description.'),
    sortBy: field
      .singleParameter(z.enum(CAMPAIGN_SORTS))
      .default('createdAt')
      .describe('The sort field. The order is always descending.'),
    limit: field
      .wholeNumberParameter(1)
      .optional()
      .describe(
        'The maximum number of campaigns on all pages together. By default, no maximum. To set the size of a page, use `pageSize`.',
      ),
    ...field.pageParameters(MAX_CAMPAIGN_PAGE_SIZE, MAX_CAMPAIGN_PAGE_SIZE),
  }),
  example: { query: { tagNames: ['launch'], pageSize: 10 }, response: [example] },
  run: (app, { caller, query }) => app.campaigns.list(caller, query),
});

const getCampaign = defineOperation({
  ...campaigns.get,
  description: [...campaigns.get.description, 'Drafts and archived campaigns are returned, too.'],
  run: (app, { caller, params }) => app.campaigns.get(caller, params.id),
});

const updateCampaign = defineOperation({
  ...campaigns.update,
  description: [
    ...UPDATE,
    '`null` removes the value of a field that accepts `null`.',
    `The status can change ${STATUS_TRANSITIONS} (409 otherwise).`,
    'If the request changes `tagIds` or `groupIds`, all IDs in the new array must exist in the workspace (422 otherwise).',
    'A new `contentPillarId` or `domain` must exist and must not be archived (422 otherwise).',
  ],
  body: campaignFields
    .extend({
      targetShares: field.wholeNumber.nullable().describe(TARGET_SHARES),
      destinationUrl: destinationUrl.nullable().describe(`${DESTINATION_URL} \`null\` counts as an empty string.`),
    })
    .partial()
    .refine(isInDateOrder, DATE_ORDER)
    .meta({ id: 'UpdateCampaign', description: 'The fields of a campaign to update.' }),
  example: {
    body: { status: 'published', targetShares: null },
    response: { ...example, targetShares: null },
  },
  run: (app, { caller, params, body }) => app.campaigns.update(caller, params.id, body),
});

const deleteCampaign = defineDelete({
  ...campaigns.delete,
  description: [
    ...campaigns.delete.description,
    'Only a draft can be deleted (409 otherwise).',
    'Archive other campaigns instead.',
  ],
  run: (app, { caller, params }) => app.campaigns.remove(caller.workspaceId, params.id),
});

export const campaignOperations = [createCampaign, listCampaigns, getCampaign, updateCampaign, deleteCampaign];
