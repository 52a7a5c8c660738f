import { setTimeout as delay } from 'node:timers/promises';
import type { NewApiKey } from '../../core/access/api-key-service.ts';
import type { NewMember } from '../../core/access/member.ts';
import type { Application } from '../../core/application.ts';
import type { NewCampaign } from '../../core/campaign/campaign.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import type { Api } from './service.ts';

/** The lifetime of a key that expires during a test. It is long enough for the creation of the key. */
const KEY_LIFETIME_MS = 300;

/** A workspace with a record of each resource. `ids` has their ids by path segment. */
export interface Tenant {
  readonly workspaceId: string;
  /** A part of the name, title, question or slug of each of its records. */
  readonly name: string;
  readonly adminId: string;
  /** The key of the admin. */
  readonly key: string;
  readonly names: { readonly domain: string; readonly group: string; readonly tag: string };
  readonly ids: Readonly<Record<(typeof SEGMENTS)[number], string>>;
}

const SEGMENTS = ['campaigns', 'inspiration-questions', 'content-pillars', 'domains', 'groups', 'tags'] as const;

/** Creates a workspace as an operator and its admin do. */
export async function createTenant({ app }: Pick<Api, 'app'>, name: string): Promise<Tenant> {
  const { id: workspaceId } = await app.workspaces.create(name);
  const names = { domain: `${name}.example`, group: `${name} group`, tag: `${name} tag` };
  const admin = await app.members.create(workspaceId, { name, email: `admin@${name}.example`, role: 'admin' });
  const { secret: key } = await app.apiKeys.create(workspaceId, { memberId: admin.id });
  const group = await app.groups.create(workspaceId, { name: names.group });
  const tag = await app.tags.create(workspaceId, names.tag);
  const { domain } = await app.domains.createOrArchive(workspaceId, { slug: names.domain });
  const pillar = await app.contentPillars.create(workspaceId, {
    authorId: admin.id,
    title: `${name} pillar`,
    color: 'red',
  });
  const question = await app.inspirationQuestions.create(workspaceId, {
    question: `What does ${name} learn?`,
    groups: [group.id],
  });
  const campaign = await app.campaigns.create(
    { workspaceId, member: admin },
    { ...createCampaignBody(`${name} campaign`), domain: domain.slug, tagIds: [tag.id], groupIds: [group.id] },
  );
  const ids = {
    campaigns: campaign.id,
    'inspiration-questions': question.id,
    'content-pillars': pillar.id,
    domains: domain.id,
    groups: group.id,
    tags: tag.id,
  };
  return { workspaceId, name, adminId: admin.id, key, names, ids };
}

/** Creates a key. If `member` is given, also creates its member, who is an admin by default. */
export async function createKey(
  { app }: Pick<Api, 'app'>,
  workspaceId: string,
  { member, ...key }: Omit<NewApiKey, 'memberId'> & { readonly member?: Partial<NewMember> | undefined } = {},
): Promise<string> {
  const newMember = { name: 'Someone', email: 'someone@example.com', role: 'admin', ...member } as const;
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

/** Returns the fields of a new campaign. */
export function createCampaignBody(name = 'A campaign'): NewCampaign {
  return {
    name,
    description: '',
    shareContext: '',
    objective: '',
    status: 'published',
    destinationUrl: 'https://example.com/',
    startDate: '2026-01-01',
    endDate: '2026-12-31',
    shareRewardAmount: '1.5',
    clickRewardAmount: '0.05',
    maxRewardPerEmployee: '50',
    totalBudget: '1000',
  };
}

/** Returns the texts of all lists, which a rejected request must not change. Rejects if a list has several pages. */
export function readAllLists({ call }: Api, key: string): Promise<string[]> {
  const lists = [
    '/campaigns?includeArchived=true',
    '/inspiration-questions?includeArchived=true',
    '/content-pillars',
    '/domains?includeArchived=true',
  ];
  return Promise.all(
    lists.map(async (list) => {
      const { status, headers, text } = await call('GET', list, { key });
      if (status !== 200 || headers.has('link')) throw new Error(`${list} has more than one page, or failed: ${text}`);
      return text;
    }),
  );
}
