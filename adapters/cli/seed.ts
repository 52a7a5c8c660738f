import type { Member, NewMemberFields } from '../../core/access/member.ts';
import type { Campaign, NewCampaignFields } from '../../core/campaign/campaign.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DESCRIPTION_LENGTH } from '../../core/shared/text.ts';
import { positiveInteger } from '../api/fields.ts';
import { buildSampleCampaign, SAMPLE_QUESTIONS } from '../samples/sample-data.ts';
import { type CommandContext, defineCommand, defineParameter, INTERRUPTED_EXIT_CODE } from './command.ts';
import { formatCount } from './format-count.ts';
import { SeededRandom } from './seeded-random.ts';

const GROUPS = ['Marketing', 'Sales', 'Engineering', 'People', 'Finance', 'Support', 'Design', 'Operations'];
const TAGS = ['Launch', 'Hiring', 'Sustainability', 'Events', 'Culture', 'Customers', 'Research', 'Press', 'Partners'];
const PILLARS = ['Life outdoors', 'Working with us', 'Made to last', 'Our customers', 'Behind the scenes'];
const FIRST_NAMES = 'Ada Ben Chiara Dmitri Elif Farid Greta Hana Ines Jonas Kofi Léa Mei Noor Oskar Priya'.split(' ');
const LAST_NAMES = 'Winter Sommer Okafor Nowak Haddad García Lindqvist Tanaka Müller Rossi Silva Novák'.split(' ');
const ADJECTIVES = 'New Light Quiet Repaired Winter Summer Open Shared Northern Green First Long'.split(' ');
const NOUNS = 'tents trails stories jackets workshops maps boots evenings teams ideas'.split(' ');
const PLACES = ['in Lisbon', 'in Oslo', 'for families', 'for beginners', 'at the fair', 'on the coast', 'this week'];

/** The sentences of descriptions. Each has at most 99 characters. */
const SENTENCES = [
  'Our repair team spent a weekend with a backpack that has seen twenty countries.',
  'A guide from the coast tested the stove that boils water in three minutes.',
  'The people in support wrote to us about a sleeping bag made of old bottles.',
  'A family of five would not travel without the lamp that lasts for a whole night.',
  'The designer of this line took apart and rebuilt the smallest rain cover of the season.',
  'One of our oldest customers told a friend about a rope that came back from the mountains.',
  'A new colleague found a better way to carry the bottle that fits every bike.',
  'Half of the office has waited a year for the wool hat that started it all.',
];

/** The statuses to pick from. A status that occurs more often is picked more often. */
const WEIGHTED_STATUSES = ['published', 'published', 'published', 'published', 'draft', 'archived'] as const;
/** The ranges of the start, in days from now, and of the duration in days. In this order: ended, running and upcoming campaigns. */
const DATE_WINDOWS = [
  { starts: [-400, -60], lasts: [5, 50] },
  { starts: [-30, -1], lasts: [31, 90] },
  { starts: [2, 90], lasts: [5, 60] },
] as const;

const BATCH_RECORD_COUNT = 500;
/** On average, one campaign in this many has a long description. */
const CAMPAIGNS_PER_LONG_DESCRIPTION = 20;
/**
 * Sentences are added until a random length in one of these ranges is reached. The last sentence can exceed this length, so the maximum
 * leaves room for a sentence.
 */
const DESCRIPTION_LENGTHS = { short: [0, 250], long: [300, DESCRIPTION_LENGTH.max - 100] } as const;
/** Only the newest campaigns get shares. */
const MAX_SHARED_CAMPAIGN_COUNT = 300;
const MAX_SHARER_COUNT = 8;
const MAX_CONCURRENT_WRITE_COUNT = 16;

export const seedCommand = defineCommand({
  name: 'seed',
  summary: 'create a sample workspace with an API key, for demonstrations and benchmarks',
  details:
    'The key belongs to an admin and is shown only once. On the same day, the same --seed-number gives the same ' +
    'names, texts and dates.',
  example: 'seed --campaigns 5000 --members 200',
  createsDatabase: true,
  handlesInterrupt: true,
  parameters: {
    campaigns: defineParameter(
      '--campaigns <number>',
      'number of campaigns',
      positiveInteger(10_000_000).default(1000),
    ),
    members: defineParameter(
      '--members <number>',
      'number of members, including the admin',
      positiveInteger(1_000_000).default(100),
    ),
    seedNumber: defineParameter(
      '--seed-number <number>',
      'seed of the random number generator',
      positiveInteger(2 ** 31).default(1),
    ),
  },
  run: async (context, { campaigns, members, seedNumber }) => {
    const { app, signal, now, progress } = context;
    const total = members + campaigns + MAX_SHARED_CAMPAIGN_COUNT;
    let done = 0;
    const reportProgress = (addedCount: number) => {
      done += addedCount;
      progress.show(done, 'records', done / total);
    };
    const seeding = { app, signal, now, random: new SeededRandom(seedNumber), reportProgress };
    const workspace = await createSampleWorkspace(seeding);
    const allMembers = await createMembers(seeding, workspace, members);
    const admin = allMembers[0] as Member;
    const { secret } = await app.apiKeys.create(workspace.id, { memberId: admin.id, label: 'seed' });
    const created = await createCampaigns(seeding, workspace, allMembers, campaigns);
    const shares = await createShares(seeding, workspace, allMembers, created.newest);
    progress.clear();
    const { id: workspaceId, name } = workspace;
    const counts = { campaigns: created.count, members: allMembers.length, shares };
    return {
      json: { workspaceId, name, memberId: admin.id, key: secret, ...counts },
      message: [
        `${signal.aborted ? 'Stopped: ' : ''}The workspace ${name} (${workspaceId}) has ${formatCount(created.count, 'campaign')}, ` +
          `${formatCount(allMembers.length, 'member')} and ${formatCount(shares, 'share')}.`,
        `Store the API key of its admin now, because it is shown only once:\n\n  ${secret}\n`,
      ].join('\n'),
      ...(signal.aborted && { exitCode: INTERRUPTED_EXIT_CODE }),
    };
  },
});

/** The functions and values that all steps of a seed use. */
interface Seeding extends Pick<CommandContext, 'app' | 'signal' | 'now'> {
  readonly random: SeededRandom;
  reportProgress(addedCount: number): void;
}

/** The sample workspace, with the IDs of its groups and tags. */
type SampleWorkspace = Awaited<ReturnType<typeof createSampleWorkspace>>;

/**
 * Calls `work` with the size of each batch, until all records are created or the command is interrupted. Resolves to the number of
 * created records.
 */
async function createInBatches(
  { signal, reportProgress }: Seeding,
  total: number,
  maxBatchSize: number,
  work: (size: number, createdCount: number) => Promise<void>,
): Promise<number> {
  let createdCount = 0;
  while (createdCount < total && !signal.aborted) {
    const size = Math.min(maxBatchSize, total - createdCount);
    await work(size, createdCount);
    createdCount += size;
    reportProgress(size);
  }
  return createdCount;
}

async function createSampleWorkspace({ app, random }: Seeding) {
  const { id, name } = await app.workspaces.create(
    `Northwind ${random.pick(['Outdoor', 'Trails', 'Supply', 'Works'])}`,
  );
  const groups = GROUPS.map((group) => ({ name: group, description: `Everyone in ${group}` }));
  const groupIds = getCreated(await app.groups.createMany(id, groups)).map((group) => group.id);
  const tagIds = getCreated(await app.tags.createMany(id, TAGS)).map((tag) => tag.id);
  const questions = SAMPLE_QUESTIONS.map((question) => ({ question, groups: random.pickSome(groupIds, 2) }));
  await app.inspirationQuestions.createMany(id, questions);
  return { id, name, groupIds, tagIds };
}

async function createMembers(
  seeding: Seeding,
  { id, groupIds }: SampleWorkspace,
  count: number,
): Promise<readonly Member[]> {
  const { app, random } = seeding;
  const members = [await app.members.create(id, { ...buildMember(random, groupIds, 1), role: 'admin' })];
  await createInBatches(seeding, count - 1, MAX_CONCURRENT_WRITE_COUNT, async (size) => {
    const newMembers = Array.from({ length: size }, (_, i) => buildMember(random, groupIds, members.length + i + 1));
    members.push(...(await Promise.all(newMembers.map((member) => app.members.create(id, member)))));
  });
  return members;
}

function buildMember(random: SeededRandom, groupIds: readonly string[], number: number): NewMemberFields {
  const name = `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;
  const letters = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(' ', '.');
  return {
    name,
    email: `${letters}.${number}@northwind.example`,
    seatType: random.pick(['advocate', 'advocate', 'advocate', 'thought_leader']),
    groupIds: random.pickSome(groupIds, 2),
  };
}

async function createCampaigns(
  seeding: Seeding,
  { id: workspaceId, groupIds, tagIds }: SampleWorkspace,
  members: readonly Member[],
  total: number,
): Promise<{ readonly count: number; readonly newest: readonly Campaign[] }> {
  const { app, random, now } = seeding;
  const { id: authorId } = members[0] as Member;
  const pillarIds: string[] = [];
  for (const [i, title] of PILLARS.entries()) {
    const color = COLORS[i % COLORS.length] as (typeof COLORS)[number];
    pillarIds.push((await app.contentPillars.create(workspaceId, { authorId, title, color })).id);
  }
  const slug = `${workspaceId.slice(-12)}.northwind.example`;
  const { domain } = await app.domains.createOrArchive(workspaceId, { slug });
  await app.domains.verify(workspaceId, domain.id);
  let newest: Campaign[] = [];
  const count = await createInBatches(seeding, total, BATCH_RECORD_COUNT, async (size) => {
    const batch = Array.from({ length: size }, () => ({
      ...buildCampaign(random, now()),
      domain: random.pick([null, slug]),
      tagIds: random.pickSome(tagIds, 3),
      groupIds: random.pickSome(groupIds, 2),
      contentPillarId: random.pick([null, ...pillarIds]),
    }));
    const actor = { workspaceId, member: random.pick(members) };
    const created = getCreated(await app.campaigns.createMany(actor, batch));
    newest = [...newest, ...created].slice(-MAX_SHARED_CAMPAIGN_COUNT);
  });
  return { count, newest };
}

function buildCampaign(random: SeededRandom, now: number): NewCampaignFields {
  const name = `${random.pick(ADJECTIVES)} ${random.pick(NOUNS)} ${random.pick(PLACES)}`;
  const { starts, lasts } = random.pick(DATE_WINDOWS);
  const firstDay = random.nextIntegerBetween(starts[0], starts[1]);
  const lastDay = firstDay + random.nextIntegerBetween(lasts[0], lasts[1]);
  const campaign = buildSampleCampaign(name, random.pick(WEIGHTED_STATUSES), [firstDay, lastDay], now);
  return {
    ...campaign,
    description: addSentences(random, campaign.description),
    ...(random.nextIntegerBelow(3) === 0 && { targetShares: random.nextIntegerBetween(1, 20) * 10 }),
  };
}

/** Returns `start` followed by some sentences. In one of `CAMPAIGNS_PER_LONG_DESCRIPTION` calls, these are many sentences. */
function addSentences(random: SeededRandom, start: string): string {
  const [minLength, maxLength] =
    random.nextIntegerBelow(CAMPAIGNS_PER_LONG_DESCRIPTION) === 0
      ? DESCRIPTION_LENGTHS.long
      : DESCRIPTION_LENGTHS.short;
  const length = random.nextIntegerBetween(minLength, maxLength);
  let text = start;
  while (text.length < length) text += ` ${random.pick(SENTENCES)}`;
  return text;
}

async function createShares(
  seeding: Seeding,
  { id: workspaceId }: SampleWorkspace,
  members: readonly Member[],
  campaigns: readonly Campaign[],
): Promise<number> {
  const { app, random } = seeding;
  const published = campaigns.filter(({ status }) => status === 'published');
  let shares = 0;
  // The random numbers are picked before the first `await`, so that they do not depend on the speed of the writes.
  const recordSharesAndClicks = async ({ id }: Campaign) => {
    const sharers = random.pickSome(members, MAX_SHARER_COUNT);
    const clicks = random.nextIntegerBelow(500);
    for (const member of sharers) await app.shares.createForMember(workspaceId, id, member.id);
    if (clicks > 0) await app.campaigns.recordClicks(workspaceId, id, clicks);
    shares += sharers.length;
  };
  await createInBatches(seeding, published.length, MAX_CONCURRENT_WRITE_COUNT, async (size, start) => {
    await Promise.all(published.slice(start, start + size).map(recordSharesAndClicks));
  });
  return shares;
}

function getCreated<T>(results: readonly BatchResult<T>[]): T[] {
  return results.filter((result): result is T => !isRejected(result));
}
