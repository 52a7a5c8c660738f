import { z } from 'zod';
import { CAMPAIGN_STATUSES, type Campaign, MAX_CLICK_COUNT } from '../../core/campaign/campaign.ts';
import { CONTENT_PILLAR_DESCRIPTION, CONTENT_PILLAR_TITLE } from '../../core/content-pillar/content-pillar.ts';
import { COLORS } from '../../core/shared/color.ts';
import { createCampaign } from '../api/campaign.ts';
import { updateContentPillar } from '../api/content-pillar.ts';
import { createDomain } from '../api/domain.ts';
import { positiveInteger, text } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createTag } from '../api/tag.ts';
import { anyId, apiFields, command, listed, type Message, parameter, picked, workspaceOption } from './command.ts';
import { counted } from './table.ts';
import { harmless } from './terminal-text.ts';

const campaignFields = apiFields(createCampaign);
const domainFields = apiFields(createDomain);
const pillarFields = apiFields(updateContentPillar);

export const listGroups = command({
  name: 'group list',
  does: 'list the groups of a workspace and how many members they have',
  example: 'group list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(
      app.groups.iterate(workspaceId),
      apiFields(createGroup),
      [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['MEMBERS', ({ count }) => String(count)],
        ['MADE', ({ createdAt }) => createdAt],
      ],
      'The workspace has no groups yet.',
    ),
});

export const listTags = command({
  name: 'tag list',
  does: 'list the tags of a workspace',
  example: 'tag list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(
      app.tags.iterate(workspaceId),
      apiFields(createTag),
      [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['COLOR', ({ color }) => color],
      ],
      'The workspace has no tags yet.',
    ),
});

export const createPillar = command({
  name: 'pillar create',
  does: 'make a content pillar, published at once',
  example: 'pillar create --workspace 0190… --author 0191… --title "Life outdoors" --color green',
  parameters: {
    workspaceId: workspaceOption,
    authorId: parameter('--author <member>', 'the member who makes it', anyId),
    title: parameter('--title <title>', 'its title', text(CONTENT_PILLAR_TITLE)),
    color: parameter('--color <color>', 'its color', z.enum(COLORS)),
    description: parameter('--description <text>', 'what it is about', text(CONTENT_PILLAR_DESCRIPTION).default('')),
  },
  run: async ({ app }, { workspaceId, ...fields }) => {
    const pillar = await app.contentPillars.create(workspaceId, fields);
    return {
      json: picked(pillar, pillarFields),
      says: `The content pillar ${harmless(pillar.title)} is published: ${pillar.id}`,
    };
  },
});

export const listPillars = command({
  name: 'pillar list',
  does: 'list the content pillars of a workspace, archived ones too',
  example: 'pillar list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(
      app.contentPillars.iterate(workspaceId),
      pillarFields,
      [
        ['ID', ({ id }) => id],
        ['TITLE', ({ title }) => title],
        ['COLOR', ({ color }) => color],
        ['STATUS', ({ status }) => status],
      ],
      'The workspace has no content pillars yet.',
    ),
});

export const verifyDomain = command({
  name: 'domain verify',
  does: 'mark a domain as verified',
  more: 'It is refused while another workspace has the domain verified and live.',
  example: 'domain verify --workspace 0190… 0193…',
  parameters: { id: parameter('<domain>', 'the domain, by its id', anyId), workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId, id }) => {
    const domain = await app.domains.verify(workspaceId, id);
    return { json: picked(domain, domainFields), says: `The domain ${domain.slug} is verified.` };
  },
});

export const listDomains = command({
  name: 'domain list',
  does: 'list the domains of a workspace, archived ones too',
  example: 'domain list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(
      app.domains.iterate(workspaceId),
      domainFields,
      [
        ['ID', ({ id }) => id],
        ['DOMAIN', ({ slug }) => slug],
        ['VERIFIED', ({ verified }) => yesOrNo(verified)],
        ['PRIMARY', ({ primary }) => yesOrNo(primary)],
        ['ARCHIVED', ({ archived }) => yesOrNo(archived)],
      ],
      'The workspace has no domains yet.',
    ),
});

export const listCampaigns = command({
  name: 'campaign list',
  does: 'list the campaigns of a workspace, archived ones too',
  example: 'campaign list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(
      app.campaigns.iterate(workspaceId),
      campaignFields,
      [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['STATUS', ({ status }) => status],
        ['STARTS', ({ startDate }) => startDate],
        ['ENDS', ({ endDate }) => endDate],
        ['SHARES', ({ shares }) => String(shares)],
        ['CLICKS', ({ clicks }) => String(clicks)],
      ],
      'The workspace has no campaigns yet.',
    ),
});

export const setCampaignStatus = command({
  name: 'campaign set-status',
  does: 'publish or archive a campaign',
  more: 'A draft can be published or archived, a published campaign archived, an archived one published again.',
  example: 'campaign set-status --workspace 0190… 0194… published',
  parameters: {
    id: parameter('<campaign>', 'the campaign, by its id', anyId),
    status: parameter('<status>', 'what it is from now on', z.enum(CAMPAIGN_STATUSES)),
    workspaceId: workspaceOption,
  },
  run: async ({ app }, { workspaceId, id, status }) => {
    const campaign = await app.campaigns.setStatus(workspaceId, id, status);
    return told(campaign, `The campaign ${harmless(campaign.name)} is ${campaign.status}.`);
  },
});

const campaignOption = parameter('--campaign <id>', 'the campaign', anyId);

export const recordShare = command({
  name: 'share record',
  does: 'record that a member has shared a published campaign; again changes nothing',
  example: 'share record --workspace 0190… --campaign 0194… --member 0191…',
  parameters: {
    workspaceId: workspaceOption,
    campaignId: campaignOption,
    memberId: parameter('--member <id>', 'who has shared it', anyId),
  },
  run: async ({ app }, { workspaceId, campaignId, memberId }) => {
    const campaign = await app.campaigns.recordShare(workspaceId, campaignId, memberId);
    return told(
      campaign,
      `The campaign ${harmless(campaign.name)} has been shared by ${counted(campaign.shares, 'member')}.`,
    );
  },
});

export const recordClicks = command({
  name: 'click record',
  does: 'record clicks on a published campaign',
  example: 'click record --workspace 0190… --campaign 0194… --count 25',
  parameters: {
    workspaceId: workspaceOption,
    campaignId: campaignOption,
    count: parameter('--count <number>', 'how many', positiveInteger(MAX_CLICK_COUNT).default(1)),
  },
  run: async ({ app }, { workspaceId, campaignId, count }) => {
    const campaign = await app.campaigns.recordClicks(workspaceId, campaignId, count);
    return told(campaign, `The campaign ${harmless(campaign.name)} has ${counted(campaign.clicks, 'click')}.`);
  },
});

function told(campaign: Campaign, says: string): Message {
  return { json: picked(campaign, campaignFields), says };
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
