import { z } from 'zod';
import {
  CAMPAIGN_NAME,
  CAMPAIGN_SORTS,
  CAMPAIGN_STATUSES,
  CAMPAIGN_WINDOWS,
  END_BEFORE_START,
  RESOURCE_LABEL,
  RESOURCE_TYPES,
  RESOURCES_AT_MOST,
} from '../../core/campaign/campaign.ts';
import { endOf, startOf } from '../../core/shared/date.ts';
import { PAGE_SIZES } from '../../core/shared/page.ts';
import { DESCRIPTION } from '../../core/shared/text.ts';
import {
  amount,
  endDate,
  flag,
  httpUrl,
  httpUrlOrEmpty,
  id,
  idList,
  ids,
  nameList,
  pageFields,
  positiveInteger,
  search,
  single,
  slug,
  slugFilter,
  startDate,
  text,
  wholeNumber,
} from './fields.ts';
import { created, listed, ok, operation } from './operation.ts';

const resource = z.union([
  httpUrl.transform((url) => ({ url })),
  z.strictObject({
    url: httpUrl,
    type: z.enum(RESOURCE_TYPES).optional(),
    mimeType: text(RESOURCE_LABEL).optional(),
    size: z.number().min(0).optional(),
    width: z.number().min(0).nullish(),
    height: z.number().min(0).nullish(),
    thumbnailUrl: httpUrl.nullish(),
    language: text(RESOURCE_LABEL).nullish(),
    order: z.number().min(0).optional(),
  }),
]);

/** One more than are allowed are enough to refuse a list that is too long. */
const resources = z.preprocess(
  (items) => (Array.isArray(items) ? items.slice(0, RESOURCES_AT_MOST + 1) : items),
  z.array(resource).max(RESOURCES_AT_MOST),
);

const campaignBody = z
  .strictObject({
    name: text(CAMPAIGN_NAME),
    description: text(DESCRIPTION),
    shareContext: text(DESCRIPTION),
    objective: text(DESCRIPTION),
    status: z.enum(CAMPAIGN_STATUSES),
    destinationUrl: httpUrlOrEmpty.transform((url) => url || null),
    startDate,
    endDate,
    shareRewardAmount: amount,
    clickRewardAmount: amount,
    maxRewardPerEmployee: amount,
    totalBudget: amount,
    domain: slug.nullish(),
    image: httpUrl.nullish(),
    tagIds: ids.optional(),
    groupIds: ids.optional(),
    resources: resources.optional(),
    targetShares: wholeNumber.optional(),
    contentPillarId: id.nullish(),
  })
  .refine(({ startDate, endDate }) => Number(startOf(startDate)) <= Number(endOf(endDate)), {
    path: [END_BEFORE_START.path],
    message: END_BEFORE_START.problem,
    when: ({ value }) => hasDates(value),
  });

/** Whether both dates are ones, whatever else is wrong: then an end before its start is named beside it. */
function hasDates(body: unknown): boolean {
  const { startDate: start, endDate: end } = body as Record<string, unknown>;
  return (
    typeof start === 'string' && typeof end === 'string' && startOf(start) !== undefined && endOf(end) !== undefined
  );
}

const campaignReply = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(CAMPAIGN_STATUSES),
  createdAt: z.string(),
  description: z.string(),
  destinationUrl: z.string().nullable(),
  clicks: z.number(),
  shares: z.number(),
  startDate: z.string(),
  endDate: z.string(),
  targetShares: z.number().nullable(),
  hasShared: z.boolean().optional(),
});

export const createCampaign = operation({
  id: 'createCampaign',
  method: 'POST',
  path: '/campaigns',
  permission: 'write',
  body: campaignBody,
  statuses: [201],
  reply: campaignReply,
  run: async (use, { caller, body }) => created(await use.campaigns.create(caller, body)),
});

export const listCampaigns = operation({
  id: 'listCampaigns',
  method: 'GET',
  path: '/campaigns',
  permission: 'read',
  query: z.strictObject({
    domain: slugFilter,
    tagIds: idList,
    tagNames: nameList,
    userId: single(id).optional(),
    includeArchived: flag.default(false),
    filter: single(z.enum(CAMPAIGN_WINDOWS)).optional(),
    search,
    sortBy: single(z.enum(CAMPAIGN_SORTS)).default('createdAt'),
    limit: positiveInteger().optional(),
    ...pageFields(PAGE_SIZES.campaigns, PAGE_SIZES.campaigns),
  }),
  statuses: [200],
  reply: z.array(campaignReply),
  run: async (use, { caller, query }) => listed(await use.campaigns.list(caller, query)),
});

export const getCampaign = operation({
  id: 'getCampaign',
  method: 'GET',
  path: '/campaigns/{id}',
  permission: 'read',
  statuses: [200],
  reply: campaignReply,
  run: async (use, { caller, params }) => ok(await use.campaigns.get(caller, params.id)),
});
