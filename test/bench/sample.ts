import pLimit from 'p-limit';
import { buildSampleCampaign } from '../../bootstrap/demo.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { DESCRIPTION_LENGTH } from '../../core/limits.ts';
import type { Member } from '../../core/member/member.ts';
import { withApplication } from '../support/storage.ts';

/** A sample workspace, its admin, and the admin's key. */
export interface Sample {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly key: string;
}

/**
 * The number of members. It is small, so that each member has shared many of the newest campaigns, which are on the
 * first pages.
 */
const MEMBER_COUNT = 10;
const CONCURRENT_WRITE_COUNT = 32;
/** Only the newest campaigns get shares. */
const SHARED_CAMPAIGN_COUNT = 300;
const SENTENCE = 'A guide from the coast tested the stove that boils water in three minutes. ';

/** The words of names. There are 840 names, and each occurs equally often. */
const ADJECTIVES = 'New Light Quiet Repaired Winter Summer Open Shared Northern Green First Long'.split(' ');
const NOUNS = 'tents trails stories jackets workshops maps boots evenings teams ideas'.split(' ');
const PLACES = ['in Lisbon', 'in Oslo', 'for families', 'for beginners', 'at the fair', 'on the coast', 'this week'];
const STATUSES = ['published', 'draft', 'published', 'published', 'archived', 'published'] as const;
const DAYS = [
  [-90, -60],
  [-30, 30],
  [10, 40],
] as const;

/** Creates a sample workspace in the database of a service with the given settings. */
export function seedDatabase(settings: Readonly<Record<string, string>>, campaigns: number): Promise<Sample> {
  return withApplication(settings, async (app) => {
    const { id: workspaceId } = await app.workspaces.create('Northwind');
    const accepted = { role: 'admin', invitation: 'accepted' } as const;
    const create = (i: number) =>
      app.members.create(workspaceId, { name: `Ada ${i}`, email: `ada.${i}@northwind.example`, ...accepted });
    const members = await Promise.all(Array.from({ length: MEMBER_COUNT }, (_, i) => create(i)));
    const { id: memberId } = members[0] as Member;
    const { secret: key } = await app.apiKeys.create(workspaceId, { memberId });
    const tagIds: string[] = [];
    for (const name of ['Launch', 'Hiring', 'Events']) tagIds.push((await app.tags.create(workspaceId, { name })).id);

    const limit = pLimit(CONCURRENT_WRITE_COUNT);
    const now = Date.now();
    const created = await limit.map(Array(campaigns).keys(), (i) => {
      const member = at(members, i);
      return app.campaigns.create({ workspaceId, member }, { ...buildCampaign(i, now), tagIds: [at(tagIds, i)] });
    });
    const isRunning = ({ status, startsAt, endsAt }: Campaign) =>
      status === 'published' && startsAt <= now && now < endsAt;
    const running = created.slice(-SHARED_CAMPAIGN_COUNT).filter(isRunning);
    await limit.map(running, async ({ id }, i) => {
      for (const member of members.slice(i % MEMBER_COUNT)) await app.shares.create({ workspaceId, member }, id);
    });
    return { workspaceId, memberId, key };
  });
}

/** Returns a campaign. One in six is archived, one in three is over, and one in 20 has a long description. */
function buildCampaign(i: number, now: number) {
  const dozen = Math.floor(i / 12);
  const name = [at(ADJECTIVES, i), at(NOUNS, dozen), at(PLACES, Math.floor(i / 120))].join(' ');
  const campaign = buildSampleCampaign(name, at(STATUSES, i + dozen), at(DAYS, i), now);
  const length = i % 20 === 0 ? DESCRIPTION_LENGTH.max - 100 : (i * 37) % 250;
  return { ...campaign, description: (campaign.description + SENTENCE.repeat(70)).slice(0, 60 + length).trim() };
}

/** Returns the value at an index. After the last value comes the first one again. */
function at<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T;
}
