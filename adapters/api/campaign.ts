import { z } from 'zod';
import {
  CAMPAIGN_NAME,
  CAMPAIGN_SORTS,
  CAMPAIGN_STATUSES,
  CAMPAIGN_WINDOWS,
  END_BEFORE_START,
  MAX_RESOURCE_COUNT,
  RESOURCE_LABEL,
  RESOURCE_TYPES,
} from '../../core/campaign/campaign.ts';
import { endOf, startOf } from '../../core/shared/date.ts';
import { PAGE_SIZES } from '../../core/shared/page.ts';
import { DESCRIPTION, URL_TEXT } from '../../core/shared/text.ts';
import {
  amount,
  booleanParameter,
  count,
  createdAt,
  endDate,
  httpUrl,
  httpUrlOrEmpty,
  id,
  idListParameter,
  ids,
  LIST_PARAMETER_FORMAT,
  nameListParameter,
  pageParameters,
  positiveInteger,
  recordId,
  responseText,
  searchParameter,
  singleParameter,
  slug,
  slugParameter,
  startDate,
  text,
  wholeNumber,
} from './fields.ts';
import { defineOperation, respondCreated, respondOk, respondPage } from './operation.ts';

const AMOUNT = 'Not negative, at most 12 digits before the point and 4 after; a string keeps all of them.';

const resource = z.union([
  httpUrl.transform((url) => ({ url })).describe('Its URL alone.'),
  z
    .strictObject({
      url: httpUrl.describe('Where it is.'),
      type: z.enum(RESOURCE_TYPES).optional(),
      mimeType: text(RESOURCE_LABEL).optional(),
      size: z.number().min(0).optional().describe('In bytes.'),
      width: z.number().min(0).nullish().describe('In pixels.'),
      height: z.number().min(0).nullish().describe('In pixels.'),
      thumbnailUrl: httpUrl.nullish(),
      language: text(RESOURCE_LABEL).nullish().describe('For example `en` or `pt-PT`.'),
      order: z.number().min(0).optional().describe('Its place among the resources.'),
    })
    .meta({ id: 'CampaignResource', description: 'Something to share with a campaign.' }),
]);

/** One more than are allowed are enough to refuse a list that is too long. */
const resources = z.preprocess(
  (items) => (Array.isArray(items) ? items.slice(0, MAX_RESOURCE_COUNT + 1) : items),
  z.array(resource).max(MAX_RESOURCE_COUNT),
);

const campaignBody = z
  .strictObject({
    name: text(CAMPAIGN_NAME),
    description: text(DESCRIPTION).describe('What it is about.'),
    shareContext: text(DESCRIPTION).describe('What sharers are told.'),
    objective: text(DESCRIPTION).describe('What it is meant to reach.'),
    status: z.enum(CAMPAIGN_STATUSES),
    destinationUrl: httpUrlOrEmpty
      .transform((url) => url || null)
      .describe('Where its link leads: an http(s) URL, or empty for none.'),
    startDate: startDate.describe('When it starts: a date (from 00:00 UTC on) or a date-time (UTC without an offset).'),
    endDate: endDate.describe('When it ends: a date (its whole day, UTC) or a date-time; not before its start.'),
    shareRewardAmount: amount.describe(`For a share. ${AMOUNT}`),
    clickRewardAmount: amount.describe(`For a click. ${AMOUNT}`),
    maxRewardPerEmployee: amount.describe(`For one employee at most. ${AMOUNT}`),
    totalBudget: amount.describe(`For all of it. ${AMOUNT}`),
    domain: slug.nullish().describe('The slug of a live domain of the workspace, for its short links.'),
    image: httpUrl.nullish(),
    tagIds: ids.optional().describe('Tags of the workspace; duplicates are dropped.'),
    groupIds: ids.optional().describe('Groups of the workspace; duplicates are dropped.'),
    resources: resources.optional(),
    targetShares: wholeNumber.optional().describe('How many shares it is meant to get: a whole number, or its digits.'),
    contentPillarId: id.nullish().describe('A content pillar of the workspace that is not archived.'),
  })
  .refine(({ startDate, endDate }) => Number(startOf(startDate)) <= Number(endOf(endDate)), {
    path: [END_BEFORE_START.path],
    message: END_BEFORE_START.problem,
    when: ({ value }) => hasDates(value),
  })
  .meta({ id: 'NewCampaign', description: 'A campaign to create.' });

/** Whether both dates are ones, whatever else is wrong: then an end before its start is named beside it. */
function hasDates(body: unknown): boolean {
  const { startDate: start, endDate: end } = body as Record<string, unknown>;
  return (
    typeof start === 'string' && typeof end === 'string' && startOf(start) !== undefined && endOf(end) !== undefined
  );
}

const campaignResponse = z
  .object({
    id: recordId,
    name: responseText(CAMPAIGN_NAME),
    status: z.enum(CAMPAIGN_STATUSES),
    createdAt,
    description: responseText(DESCRIPTION),
    destinationUrl: responseText(URL_TEXT).nullable().describe('Where its link leads; `null` for nowhere.'),
    clicks: count.describe('Clicks received.'),
    shares: count.describe('Shares received.'),
    startDate: responseText({ max: 35 }).describe('As it was sent.'),
    endDate: responseText({ max: 35 }).describe('As it was sent.'),
    targetShares: count.nullable().describe('`null` where none was given.'),
    hasShared: z
      .boolean()
      .optional()
      .describe("Whether the key's member has shared it; absent with a key of no member."),
  })
  .meta({ id: 'Campaign', description: 'Content that employees share.' });

/** As the examples of the document show it. */
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

export const createCampaign = defineOperation({
  id: 'createCampaign',
  method: 'POST',
  path: '/campaigns',
  permission: 'write',
  summary: 'Create a campaign',
  description:
    'Its creator is the member whose key it is. Tags, groups, content pillar and domain have to be of the workspace; what is not is refused with 422.',
  body: campaignBody,
  statuses: [201],
  response: campaignResponse,
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
      resources: [
        'https://northwind.example/tents.pdf',
        { url: 'https://northwind.example/tents.mp4', type: 'video', mimeType: 'video/mp4', language: 'en', order: 1 },
      ],
      targetShares: 50,
    },
    response: { ...example, clicks: 0, shares: 0, hasShared: false },
  },
  run: async (app, { caller, body }) => respondCreated(await app.campaigns.create(caller, body)),
});

export const listCampaigns = defineOperation({
  id: 'listCampaigns',
  method: 'GET',
  path: '/campaigns',
  permission: 'read',
  summary: 'List campaigns',
  description: 'Those that all filters hold for, in descending order. `Link` leads to the next and the previous page.',
  query: z.strictObject({
    domain: slugParameter.describe('The slug of their domain. Without it: of all domains, and of none.'),
    tagIds: idListParameter.describe(`With one of these tags. ${LIST_PARAMETER_FORMAT}`),
    tagNames: nameListParameter.describe(
      `With a tag of one of these names, whatever the case. ${LIST_PARAMETER_FORMAT}`,
    ),
    userId: singleParameter(id).optional().describe('The member who created them.'),
    includeArchived: booleanParameter.default(false).describe('Archived campaigns too.'),
    filter: singleParameter(z.enum(CAMPAIGN_WINDOWS))
      .optional()
      .describe('By dates: not yet started, started and not ended, or started.'),
    search: searchParameter.describe('Found in name or description, whatever the case.'),
    sortBy: singleParameter(z.enum(CAMPAIGN_SORTS))
      .default('createdAt')
      .describe('What they are ordered by, descending.'),
    limit: positiveInteger().optional().describe('The list ends after so many campaigns, counted over all pages.'),
    ...pageParameters(PAGE_SIZES.campaigns, PAGE_SIZES.campaigns),
  }),
  statuses: [200],
  response: z.array(campaignResponse).max(PAGE_SIZES.campaigns),
  example: { response: [example] },
  run: async (app, { caller, query }) => respondPage(await app.campaigns.list(caller, query)),
});

export const getCampaign = defineOperation({
  id: 'getCampaign',
  method: 'GET',
  path: '/campaigns/{id}',
  permission: 'read',
  summary: 'Retrieve a campaign',
  description: 'Whatever its status.',
  statuses: [200],
  response: campaignResponse,
  example: { response: example },
  run: async (app, { caller, params }) => respondOk(await app.campaigns.get(caller, params.id)),
});
