import { z } from 'zod';
import { CAMPAIGN_STATUSES, type Campaign } from '../../core/campaign/campaign.ts';
import {
  CONTENT_PILLAR_DESCRIPTION_LENGTH,
  CONTENT_PILLAR_TITLE_LENGTH,
} from '../../core/content-pillar/content-pillar.ts';
import { COLORS } from '../../core/shared/color.ts';
import { createCampaign, STATUS_TRANSITIONS } from '../api/campaign.ts';
import { updateContentPillar } from '../api/content-pillar.ts';
import { createDomain } from '../api/domain.ts';
import { text } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createTag } from '../api/tag.ts';
import { replaceControlCharacters } from '../logging/terminal-text.ts';
import {
  type Command,
  defineCommand,
  defineListCommand,
  defineParameter,
  getResponseFields,
  idSchema,
  type MessageResult,
  pickFields,
  workspaceOption,
} from './command.ts';
import { formatCount } from './format-count.ts';

const campaignFields = getResponseFields(createCampaign);
const domainFields = getResponseFields(createDomain);
const pillarFields = getResponseFields(updateContentPillar);

/** The commands for the records that the API serves. */
export const recordCommands: readonly Command[] = [
  defineListCommand({
    name: 'group list',
    summary: 'list the groups of a workspace with their number of members',
    iterate: (app, workspaceId) => app.groups.iterate(workspaceId),
    fields: getResponseFields(createGroup),
    columns: { ID: 'id', NAME: 'name', MEMBERS: 'count', CREATED: 'createdAt' },
    emptyMessage: 'The workspace has no groups yet.',
  }),

  defineListCommand({
    name: 'tag list',
    summary: 'list the tags of a workspace',
    iterate: (app, workspaceId) => app.tags.iterate(workspaceId),
    fields: getResponseFields(createTag),
    columns: { ID: 'id', NAME: 'name', COLOR: 'color' },
    emptyMessage: 'The workspace has no tags yet.',
  }),

  defineCommand({
    name: 'pillar create',
    summary: 'create a published content pillar',
    example: 'pillar create --workspace 0190… --author 0191… --title "Life outdoors" --color green',
    parameters: {
      workspaceId: workspaceOption,
      authorId: defineParameter('--author <member>', 'ID of the member who is the author', idSchema),
      title: defineParameter('--title <title>', 'title of the content pillar', text(CONTENT_PILLAR_TITLE_LENGTH)),
      color: defineParameter('--color <color>', 'color of the content pillar', z.enum(COLORS)),
      description: defineParameter(
        '--description <text>',
        'description of the content pillar',
        text(CONTENT_PILLAR_DESCRIPTION_LENGTH).default(''),
      ),
    },
    run: async ({ app }, { workspaceId, authorId, ...fields }) => {
      const member = await app.members.get(workspaceId, authorId);
      const pillar = await app.contentPillars.create({ workspaceId, member }, fields);
      return {
        json: pickFields(pillar, pillarFields),
        message: `The content pillar ${replaceControlCharacters(pillar.title)} was created and published: ${pillar.id}`,
      };
    },
  }),

  defineListCommand({
    name: 'pillar list',
    summary: 'list the content pillars of a workspace, including archived ones',
    iterate: (app, workspaceId) => app.contentPillars.iterate(workspaceId),
    fields: pillarFields,
    columns: { ID: 'id', TITLE: 'title', COLOR: 'color', STATUS: 'status' },
    emptyMessage: 'The workspace has no content pillars yet.',
  }),

  defineCommand({
    name: 'domain verify',
    summary: 'mark a domain as verified',
    details:
      'This is not allowed if another workspace has verified a domain with the same name and has not archived it.',
    example: 'domain verify --workspace 0190… 0193…',
    parameters: { id: defineParameter('<domain>', 'ID of the domain', idSchema), workspaceId: workspaceOption },
    run: async ({ app }, { workspaceId, id }) => {
      const domain = await app.domains.markVerified(workspaceId, id);
      return { json: pickFields(domain, domainFields), message: `The domain ${domain.slug} is verified.` };
    },
  }),

  defineListCommand({
    name: 'domain list',
    summary: 'list the domains of a workspace, including archived ones',
    iterate: (app, workspaceId) => app.domains.iterate(workspaceId),
    fields: domainFields,
    columns: { ID: 'id', DOMAIN: 'slug', VERIFIED: 'verified', PRIMARY: 'primary', ARCHIVED: 'archived' },
    emptyMessage: 'The workspace has no domains yet.',
  }),

  defineListCommand({
    name: 'campaign list',
    summary: 'list the campaigns of a workspace, including archived ones',
    iterate: (app, workspaceId) => app.campaigns.iterate(workspaceId),
    fields: campaignFields,
    columns: {
      ID: 'id',
      NAME: 'name',
      STATUS: 'status',
      STARTS: 'startDate',
      ENDS: 'endDate',
      SHARES: 'shares',
      CLICKS: 'clicks',
    },
    emptyMessage: 'The workspace has no campaigns yet.',
  }),

  defineCommand({
    name: 'campaign set-status',
    summary: 'publish or archive a campaign',
    details: `Allowed changes: ${STATUS_TRANSITIONS}. A campaign cannot become a draft again.`,
    example: 'campaign set-status --workspace 0190… 0194… published',
    parameters: {
      id: defineParameter('<campaign>', 'ID of the campaign', idSchema),
      status: defineParameter('<status>', 'new status', z.enum(CAMPAIGN_STATUSES)),
      workspaceId: workspaceOption,
    },
    run: async ({ app }, { workspaceId, id, status }) => {
      const campaign = await app.campaigns.update({ workspaceId }, id, { status });
      return createCampaignResult(campaign, `is ${campaign.status}`);
    },
  }),

  defineCommand({
    name: 'share record',
    summary: 'record that a member has shared a published campaign',
    details: 'A member shares a campaign only once: recording the share again changes nothing.',
    example: 'share record --workspace 0190… --campaign 0194… --member 0191…',
    parameters: {
      workspaceId: workspaceOption,
      campaignId: defineParameter('--campaign <id>', 'ID of the campaign', idSchema),
      memberId: defineParameter('--member <id>', 'ID of the member who shared the campaign', idSchema),
    },
    run: async ({ app }, { workspaceId, campaignId, memberId }) => {
      const campaign = await app.shares.createForMember(workspaceId, campaignId, memberId);
      return createCampaignResult(campaign, `has been shared by ${formatCount(campaign.shares, 'member')}`);
    },
  }),
];

function createCampaignResult(campaign: Campaign, outcome: string): MessageResult {
  return {
    json: pickFields(campaign, campaignFields),
    message: `The campaign ${replaceControlCharacters(campaign.name)} ${outcome}.`,
  };
}
