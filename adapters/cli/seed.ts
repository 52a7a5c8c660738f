import type { Member, NewMember } from '../../core/access/member.ts';
import type { Campaign, CampaignStatus, NewCampaign } from '../../core/campaign/campaign.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DESCRIPTION_LENGTH } from '../../core/shared/text.ts';
import { positiveInteger } from '../api/fields.ts';
import { type CommandContext, defineCommand, defineParameter, INTERRUPTED_EXIT_CODE } from './command.ts';
import { formatCount } from './format-count.ts';
import { buildSampleCampaign } from './sample-campaign.ts';
import { SeededRandom } from './seeded-random.ts';

const GROUPS = ['Marketing', 'Sales', 'Engineering', 'People', 'Finance', 'Support', 'Design', 'Operations'];
const TAGS = ['Launch', 'Hiring', 'Sustainability', 'Events', 'Culture', 'Customers', 'Research', 'Press', 'Partners'];
const PILLARS = ['Life outdoors', 'Working with us', 'Made to last', 'Our customers', 'Behind the scenes'];
const QUESTIONS = [
  'What did you learn on your last trip outdoors?',
  'Which customer story made you proud this month?',
  'How do we make our tents last longer?',
  'What would you tell someone who starts here?',
  'Which tool do you miss in your daily work?',
  'What surprised you in your first week?',
];
const FIRST_NAMES = 'Ada Ben Chiara Dmitri Elif Farid Greta Hana Ines Jonas Kofi Léa Mei Noor Oskar Priya'.split(' ');
const LAST_NAMES = 'Winter Sommer Okafor Nowak Haddad García Lindqvist Tanaka Müller Rossi Silva Novák'.split(' ');
const ADJECTIVES = 'New Light Quiet Repaired Winter Summer Open Shared Northern Green First Long'.split(' ');
const NOUNS = 'tents trails stories jackets workshops maps boots evenings teams ideas'.split(' ');
const PLACES = ['in Lisbon', 'in Oslo', 'for families', 'for beginners', 'at the fair', 'on the coast', 'this week'];

/** A sentence is one subject, one verb and one object, and has at most 99 characters. */
const SENTENCE_SUBJECTS = [
  'Our repair team',
  'A guide from the coast',
  'The people in support',
  'Everyone at the warehouse',
  'A family of five',
  'The designer of this line',
  'One of our oldest customers',
  'A new colleague',
  'The partner in the valley',
  'Half of the office',
];
const SENTENCE_VERBS = [
  'spent a weekend with',
  'wrote to us about',
  'found a better way to carry',
  'learned how to pack',
  'tested in the rain',
  'took apart and rebuilt',
  'has waited a year for',
  'told a friend about',
  'measured the footprint of',
  'would not travel without',
];
const SENTENCE_OBJECTS = [
  'a backpack that has seen twenty countries',
  'the stove that boils water in three minutes',
  'a sleeping bag made of old bottles',
  'the lamp that lasts for a whole night',
  'a pair of socks that nobody believed in',
  'the smallest rain cover of the season',
  'a rope that came back from the mountains',
  'the bottle that fits every bike',
  'a hammock for two',
  'the wool hat that started it all',
];

/** The statuses to pick from. A status that occurs more often is picked more often. */
const WEIGHTED_STATUSES: readonly CampaignStatus[] = [
  'published',
  'published',
  'published',
  'published',
  'draft',
  'archived',
];
/** When campaigns start, in days from now, and how many days they last: for ended, for running, and for upcoming campaigns. */
const DATE_WINDOWS = [
  { starts: [-400, -60], lasts: [5, 50] },
  { starts: [-30, -1], lasts: [31, 90] },
  { starts: [2, 90], lasts: [5, 60] },
] as const;

const BATCH_SIZE = 500;
/** On average, one description in 20 is long. */
const LONG_DESCRIPTION_INTERVAL = 20;
/** Sentences are added until a length in this range is reached, so the maximum leaves room for one more sentence. */
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
    const random = new SeededRandom(seedNumber);
    const reportProgress = createProgressReporter(context, members + campaigns + MAX_SHARED_CAMPAIGN_COUNT);
    const workspace = await createSampleWorkspace(context, random);
    const allMembers = await createMembers(context, workspace, random, members, reportProgress);
    const admin = allMembers[0] as Member;
    const { secret } = await context.app.apiKeys.create(workspace.id, { memberId: admin.id, label: 'seed' });
    const created = await createCampaigns(context, workspace, random, allMembers, campaigns, reportProgress);
    const shares = await createShares(context, workspace, random, allMembers, created.newest, reportProgress);
    context.progress.clear();
    const { id: workspaceId, name } = workspace;
    const counts = { campaigns: created.count, members: allMembers.length, shares };
    const isStopped = context.signal.aborted;
    return {
      json: { workspaceId, name, memberId: admin.id, key: secret, ...counts },
      message: [
        `${isStopped ? 'Stopped: ' : ''}The workspace ${name} (${workspaceId}) has ${formatCount(created.count, 'campaign')}, ` +
          `${formatCount(allMembers.length, 'member')} and ${formatCount(shares, 'share')}.`,
        `Store the API key of its admin now, because it is shown only once:\n\n  ${secret}\n`,
      ].join('\n'),
      ...(isStopped && { exitCode: INTERRUPTED_EXIT_CODE }),
    };
  },
});

/** The sample workspace, with the ids of its groups and tags. */
interface SampleWorkspace {
  readonly id: string;
  readonly name: string;
  readonly groupIds: readonly string[];
  readonly tagIds: readonly string[];
}

type ProgressReporter = (addedCount: number) => void;

function createProgressReporter({ progress }: CommandContext, total: number): ProgressReporter {
  let done = 0;
  return (addedCount) => {
    done += addedCount;
    progress.show(done, 'records', done / total);
  };
}

async function createSampleWorkspace({ app }: CommandContext, random: SeededRandom): Promise<SampleWorkspace> {
  const { id, name } = await app.workspaces.create(
    `Northwind ${random.pick(['Outdoor', 'Trails', 'Supply', 'Works'])}`,
  );
  const groups = GROUPS.map((group) => ({ name: group, description: `Everyone in ${group}` }));
  const groupIds = getCreatedIds(await app.groups.createMany(id, groups));
  const tagIds = getCreatedIds(await app.tags.createMany(id, TAGS));
  const questions = QUESTIONS.map((question) => ({ question, groups: random.pickSome(groupIds, 2) }));
  await app.inspirationQuestions.createMany(id, questions);
  return { id, name, groupIds, tagIds };
}

async function createMembers(
  { app, signal }: CommandContext,
  { id, groupIds }: SampleWorkspace,
  random: SeededRandom,
  count: number,
  reportProgress: ProgressReporter,
): Promise<readonly Member[]> {
  const members = [await app.members.create(id, { ...buildMember(random, groupIds, 1), role: 'admin' })];
  while (members.length < count && !signal.aborted) {
    const size = Math.min(MAX_CONCURRENT_WRITE_COUNT, count - members.length);
    const newMembers = Array.from({ length: size }, (_, i) => buildMember(random, groupIds, members.length + i + 1));
    members.push(...(await Promise.all(newMembers.map((member) => app.members.create(id, member)))));
    reportProgress(size);
  }
  return members;
}

function buildMember(random: SeededRandom, groupIds: readonly string[], number: number): NewMember {
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
  { app, signal, now }: CommandContext,
  workspace: SampleWorkspace,
  random: SeededRandom,
  members: readonly Member[],
  count: number,
  reportProgress: ProgressReporter,
): Promise<{ readonly count: number; readonly newest: readonly Campaign[] }> {
  const { id: workspaceId } = workspace;
  const { id: authorId } = members[0] as Member;
  const pillarIds: string[] = [];
  for (const [i, title] of PILLARS.entries()) {
    const color = COLORS[i % COLORS.length] as (typeof COLORS)[number];
    pillarIds.push((await app.contentPillars.create(workspaceId, { authorId, title, color })).id);
  }
  const slug = `${workspaceId.slice(-12)}.northwind.example`;
  const { domain } = await app.domains.createOrArchive(workspaceId, { slug });
  await app.domains.verify(workspaceId, domain.id);
  const newest: Campaign[] = [];
  let createdCount = 0;
  while (createdCount < count && !signal.aborted) {
    const batch = Array.from({ length: Math.min(BATCH_SIZE, count - createdCount) }, () => ({
      ...buildCampaign(random, now()),
      domain: random.pick([null, slug]),
      tagIds: random.pickSome(workspace.tagIds, 3),
      groupIds: random.pickSome(workspace.groupIds, 2),
      contentPillarId: random.pick([null, ...pillarIds]),
    }));
    const actor = { workspaceId, member: random.pick(members) };
    newest.push(...getCreatedRecords(await app.campaigns.createMany(actor, batch)));
    newest.splice(0, Math.max(0, newest.length - MAX_SHARED_CAMPAIGN_COUNT));
    createdCount += batch.length;
    reportProgress(batch.length);
  }
  return { count: createdCount, newest };
}

function buildCampaign(random: SeededRandom, now: number): NewCampaign {
  const name = `${random.pick(ADJECTIVES)} ${random.pick(NOUNS)} ${random.pick(PLACES)}`;
  const { starts, lasts } = random.pick(DATE_WINDOWS);
  const from = random.nextIntegerBetween(starts[0], starts[1]);
  const to = from + random.nextIntegerBetween(lasts[0], lasts[1]);
  const sample = buildSampleCampaign(name, random.pick(WEIGHTED_STATUSES), [from, to], now);
  const campaign = { ...sample, description: addSentences(random, sample.description) };
  return random.nextIntegerBelow(3) === 0
    ? { ...campaign, targetShares: random.nextIntegerBetween(1, 20) * 10 }
    : campaign;
}

/** Returns `start` followed by some sentences. In one of `LONG_DESCRIPTION_INTERVAL` calls, these are many sentences. */
function addSentences(random: SeededRandom, start: string): string {
  const [minLength, maxLength] =
    random.nextIntegerBelow(LONG_DESCRIPTION_INTERVAL) === 0 ? DESCRIPTION_LENGTHS.long : DESCRIPTION_LENGTHS.short;
  const length = random.nextIntegerBetween(minLength, maxLength);
  let text = start;
  while (text.length < length)
    text += ` ${random.pick(SENTENCE_SUBJECTS)} ${random.pick(SENTENCE_VERBS)} ${random.pick(SENTENCE_OBJECTS)}.`;
  return text;
}

async function createShares(
  { app, signal }: CommandContext,
  { id: workspaceId }: SampleWorkspace,
  random: SeededRandom,
  members: readonly Member[],
  campaigns: readonly Campaign[],
  reportProgress: ProgressReporter,
): Promise<number> {
  const published = campaigns.filter(({ status }) => status === 'published');
  const plans = published.map(({ id }) => ({
    id,
    sharers: random.pickSome(members, MAX_SHARER_COUNT),
    clicks: random.nextIntegerBelow(500),
  }));
  let shares = 0;
  for (let i = 0; i < plans.length && !signal.aborted; i += MAX_CONCURRENT_WRITE_COUNT) {
    const batch = plans.slice(i, i + MAX_CONCURRENT_WRITE_COUNT);
    await Promise.all(
      batch.map(async ({ id, sharers, clicks }) => {
        for (const member of sharers) await app.campaigns.recordShare(workspaceId, id, member.id);
        if (clicks > 0) await app.campaigns.recordClicks(workspaceId, id, clicks);
        shares += sharers.length;
      }),
    );
    reportProgress(batch.length);
  }
  return shares;
}

function getCreatedRecords<T>(results: readonly BatchResult<T>[]): T[] {
  return results.filter((result): result is T => !isRejected(result));
}

function getCreatedIds<T extends { readonly id: string }>(results: readonly BatchResult<T>[]): string[] {
  return getCreatedRecords(results).map(({ id }) => id);
}
