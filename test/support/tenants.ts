import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { NewApiKeyFields } from '../../core/access/api-key.ts';
import type { Application } from '../../core/application.ts';
import type { NewCampaignFields } from '../../core/campaign/campaign.ts';
import type { Member, NewMemberFields } from '../../core/member/member.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { campaignBody, campaignBodySchema } from './samples.ts';
import type { Api } from './service.ts';

/** The lifetime of a key that expires during a test. It is long enough for the creation of the key. */
const KEY_LIFETIME_MS = 300;

/** Members accept their invitation, so that their keys can be used at once. */
const invitation = 'accepted';

/** A workspace with an admin. */
export interface TestWorkspace {
  readonly workspaceId: string;
  readonly admin: Member;
  /** The key of the admin. */
  readonly key: string;
}

/** Creates a workspace without records, as an operator does. */
export async function createWorkspace(app: Application, name = 'northwind'): Promise<TestWorkspace> {
  const { id: workspaceId } = await app.workspaces.create(name);
  const admin = await app.members.create(workspaceId, {
    name,
    email: `admin@${name}.example`,
    role: 'admin',
    invitation,
  });
  const { secret: key } = await app.apiKeys.create(workspaceId, { memberId: admin.id });
  return { workspaceId, admin, key };
}

/** A workspace with a record of each resource. `ids` has their IDs by path segment. */
export interface Tenant extends TestWorkspace {
  /** A text that is a part of the name, title, question or slug of each record of the workspace. */
  readonly name: string;
  readonly names: { readonly domain: string; readonly group: string; readonly tag: string };
  readonly ids: Readonly<Record<(typeof SEGMENTS)[number], string>>;
  /** A campaign that can be deleted. */
  readonly draftId: string;
  /** The member who shared the campaign of the workspace. */
  readonly sharer: Member;
}

const SEGMENTS = [
  'campaigns',
  'inspiration-questions',
  'content-pillars',
  'domains',
  'groups',
  'tags',
  'members',
  'keys',
  'webhooks',
] as const;

/** Creates a workspace with a record of each resource, as an operator and its admin do. */
export async function createTenant({ app }: Pick<Api, 'app'>, name: string): Promise<Tenant> {
  const workspace = await createWorkspace(app, name);
  const { workspaceId, admin: member } = workspace;
  const names = { domain: `${name}.example`, group: `${name} group`, tag: `${name} tag` };
  const group = await app.groups.create(workspaceId, { name: names.group });
  const tag = await app.tags.create(workspaceId, { name: names.tag });
  const { domain } = await app.domains.createOrArchive(workspaceId, { slug: names.domain });
  const title = `${name} pillar`;
  const pillar = await app.contentPillars.create({ workspaceId, member }, { title, color: 'red' });
  const question = await app.inspirationQuestions.create(workspaceId, {
    question: `What does ${name} learn?`,
    groups: [group.id],
  });
  const references = { domain: domain.slug, tagIds: [tag.id], groupIds: [group.id] };
  const fields = { ...createCampaignFields(`${name} campaign`), ...references };
  const campaign = await app.campaigns.create({ workspaceId, member }, fields);
  const draft = await app.campaigns.create({ workspaceId }, { ...createCampaignFields('Draft'), status: 'draft' });
  const sharerFields = { name, email: `sharer@${name}.example`, groups: [group.id], invitation } as const;
  const sharer = await app.members.create(workspaceId, sharerFields);
  await app.shares.create({ workspaceId, member: sharer }, campaign.id);
  const { apiKey } = await app.apiKeys.create(workspaceId, { label: `${name} key`, memberId: sharer.id });
  const label = `${name} webhook`;
  const { id: webhookId } = await app.webhooks.create(workspaceId, { url: 'https://webhooks.example', label });
  // A disabled webhook does not change by itself.
  await app.webhooks.update(workspaceId, webhookId, { enabled: false });
  const ids = {
    campaigns: campaign.id,
    'inspiration-questions': question.id,
    'content-pillars': pillar.id,
    domains: domain.id,
    groups: group.id,
    tags: tag.id,
    members: sharer.id,
    keys: apiKey.id,
    webhooks: webhookId,
  };
  return { ...workspace, name, names, ids, draftId: draft.id, sharer };
}

/** Creates a key. If `member` is given, also creates the member of the key, by default an admin. */
export async function createKey(
  { app }: Pick<Api, 'app'>,
  workspaceId: string,
  { member, ...key }: NewApiKeyFields & { readonly member?: Partial<NewMemberFields> | undefined } = {},
): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  const newMember = { name: 'Someone', email, role: 'admin', invitation, ...member } as const;
  const memberId = member && (await app.members.create(workspaceId, newMember)).id;
  const { secret } = await app.apiKeys.create(workspaceId, { ...key, ...(memberId && { memberId }) });
  return secret;
}

/** Creates a key, and waits until it has expired. */
export async function createExpiredKey({ apiKeys }: Application, workspaceId: string): Promise<string> {
  const { secret } = await apiKeys.create(workspaceId, { expiresAt: formatTimestamp(Date.now() + KEY_LIFETIME_MS) });
  await delay(KEY_LIFETIME_MS + 1);
  return secret;
}

/** Returns the body of a request that creates a campaign. */
export function createCampaignBody(name: string = campaignBody.name) {
  return { ...campaignBody, name };
}

/** Returns the fields of a new campaign, as the core takes them. */
export function createCampaignFields(name: string = campaignBody.name): NewCampaignFields {
  return campaignBodySchema.parse(createCampaignBody(name));
}
