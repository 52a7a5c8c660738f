import { z } from 'zod';
import { CAMPAIGN_STATUSES } from '../../core/campaign/campaign.ts';
import { MAX_PAGE_SIZE, NAME_LENGTH, URL_LENGTH } from '../../core/limits.ts';
import { SHARE_SORTS } from '../../core/share/share.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';

const shareResponse = z
  .object({
    campaignId: field.recordId.describe('The ID of the campaign.'),
    memberId: field.recordId.describe('The ID of the member who shared the campaign.'),
    memberName: field.responseText(NAME_LENGTH).describe('The name of the member.'),
    link: field
      .responseText(URL_LENGTH)
      .nullable()
      .describe(
        'The short link of the member. It redirects to the `destinationUrl` of the campaign and counts clicks. Its host is the domain of the campaign if that is verified and not archived, otherwise the host of the setting `LINKS_URL`. `null` if there is no such host, if short links are off, or if the campaign has no `destinationUrl`.',
      ),
    clicks: field.count.describe('The number of clicks on the short link.'),
    rewards: field.responseAmount.describe(
      'The rewards for the share and its clicks. Each reward is limited to the rest of `maxRewardPerEmployee` and `totalBudget` of the campaign. Later changes of the campaign do not affect it.',
    ),
    createdAt: field.createdAt,
  })
  .meta({ id: 'Share', description: 'A share of a campaign by a member.' });

const memberShareResponse = shareResponse
  .extend({
    campaignName: field.responseText(NAME_LENGTH).describe('The name of the campaign.'),
    campaignStatus: z.enum(CAMPAIGN_STATUSES).describe('The status of the campaign.'),
  })
  .meta({ id: 'MemberShare', description: 'A share with the name and the status of its campaign.' });

const shareListParameters = {
  ...field.sortParameters(SHARE_SORTS, 'The sort field.'),
  ...field.pageParameters(),
};

const example = {
  campaignId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e01',
  memberId: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a',
  memberName: 'Ada Pereira',
  link: 'https://go.northwind.example/4fK9xQ2b',
  clicks: 0,
  rewards: '1.5',
  createdAt: '2026-06-02T09:30:00.000Z',
} as const;

const createShare = defineOperation({
  id: 'createShare',
  method: 'POST',
  path: '/campaigns/{id}/shares',
  command: 'campaign share',
  permission: 'share',
  summary: 'Share a campaign',
  description: [
    'Records that the calling member shares the campaign (201), or returns the existing share (200).',
    'A new share is possible only while the campaign is published, has started and has not ended (409 otherwise).',
    'The groups of the campaign do not restrict who can share it.',
  ],
  statuses: [200, 201],
  response: shareResponse,
  example: { response: example },
  run: async (app, { caller, params }) => {
    const { share, isNew } = await app.shares.create(caller, params.id);
    return { ...share, isNew };
  },
});

const listShares = defineOperation({
  id: 'listShares',
  method: 'GET',
  path: '/campaigns/{id}/shares',
  command: 'campaign shares',
  columns: ['memberId', 'memberName', 'link', 'clicks', 'rewards', 'createdAt'],
  summary: 'List shares of a campaign',
  description: ['Returns the shares of a campaign, one for each member who shared it.'],
  query: z.strictObject({
    memberId: field.idParameter.describe('Only the share of the member with this ID.'),
    ...shareListParameters,
  }),
  response: z.array(shareResponse).max(MAX_PAGE_SIZE),
  example: { response: [example] },
  run: (app, { caller, params, query }) => app.shares.list(caller.workspaceId, params.id, query),
});

export const listMyShares = defineOperation({
  id: 'listMyShares',
  method: 'GET',
  path: '/me/shares',
  command: 'me shares',
  columns: ['campaignId', 'campaignName', 'campaignStatus', 'link', 'clicks', 'rewards', 'createdAt'],
  permission: 'readOwn',
  summary: 'List your shares',
  description: ['Returns the shares of the calling member, over all campaigns.'],
  query: z.strictObject(shareListParameters),
  response: z.array(memberShareResponse).max(MAX_PAGE_SIZE),
  example: { response: [{ ...example, campaignName: 'Summer tents are here', campaignStatus: 'published' }] },
  run: (app, { caller, query }) => app.shares.listOfMember(caller, query),
});

export const shareOperations = [createShare, listShares];
