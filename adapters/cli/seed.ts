import type { Member } from '../../core/access/member.ts';
import type { NewMember } from '../../core/access/member-service.ts';
import type { Campaign, CampaignStatus, NewCampaign } from '../../core/campaign/campaign.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DESCRIPTION } from '../../core/shared/text.ts';
import { positiveInteger } from '../api/fields.ts';
import { command, parameter, type Session, STOPPED } from './command.ts';
import { Choices, sampleCampaign } from './sample.ts';
import { counted } from './table.ts';

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
const THINGS = 'tents trails stories jackets workshops maps boots evenings teams ideas'.split(' ');
const PLACES = ['in Lisbon', 'in Oslo', 'for families', 'for beginners', 'at the fair', 'on the coast', 'this week'];

/** Sentences are one of each. */
const WHO = [
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
const DID = [
  'spent a weekend with',
  'wrote to us about',
  'found a better way to carry',
  'learned how to mend',
  'tested in the rain',
  'took apart and rebuilt',
  'has waited a year for',
  'told a friend about',
  'measured the footprint of',
  'would not travel without',
];
const WHAT = [
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

/** As often as they come up. */
const STATUSES: readonly CampaignStatus[] = ['published', 'published', 'published', 'published', 'draft', 'archived'];
/** When campaigns start and how long they last, in days from now: over, running, to come. */
const WINDOWS = [
  { starts: [-400, -60], lasts: [5, 50] },
  { starts: [-30, -1], lasts: [31, 90] },
  { starts: [2, 90], lasts: [5, 60] },
] as const;

const BATCH = 500;
/** One text in so many is long; within these lengths one more sentence is added, of which none has more than 99 characters. */
const LONG_ONE_IN = 20;
const LENGTHS = { short: [0, 250], long: [300, DESCRIPTION.max - 100] } as const;
/** How many of the newest campaigns may have been shared, and by how many members at most. */
const SHARED = 300;
const SHARERS = 8;
/** What waits for the storage at the same time. */
const AT_ONCE = 16;

export const seed = command({
  name: 'seed',
  does: 'make a sample workspace and a key of its admin, for demonstrations and benchmarks',
  more: 'On the same day, the same --seed-number gives the same names, texts and dates. The key is shown this once.',
  example: 'seed --campaigns 5000 --members 200',
  endsItself: true,
  parameters: {
    campaigns: parameter('--campaigns <number>', 'how many campaigns', positiveInteger(10_000_000).default(1000)),
    members: parameter(
      '--members <number>',
      'how many members, the admin among them',
      positiveInteger(1_000_000).default(100),
    ),
    number: parameter('--seed-number <number>', 'which sample', positiveInteger(2 ** 31).default(1)),
  },
  run: async (session, { campaigns, members, number }) => {
    const choices = new Choices(number);
    const shown = shower(session, members + campaigns + SHARED);
    const company = await makeCompany(session, choices);
    const people = await makeMembers(session, company, choices, members, shown);
    const admin = people[0] as Member;
    const { secret } = await session.app.apiKeys.create(company.id, { memberId: admin.id, label: 'seed' });
    const made = await makeCampaigns(session, company, choices, people, campaigns, shown);
    const shares = await makeShares(session, company, choices, people, made.newest, shown);
    session.progress.clear();
    const { id: workspaceId, name } = company;
    const counts = { campaigns: made.count, members: people.length, shares };
    const stopped = session.stop.aborted;
    return {
      json: { workspaceId, name, memberId: admin.id, key: secret, ...counts },
      says: [
        `${stopped ? 'Stopped: ' : ''}The workspace ${name} (${workspaceId}) has ${counted(made.count, 'campaign')}, ` +
          `${counted(people.length, 'member')} and ${counted(shares, 'share')}.`,
        `The key of its admin is shown this once, so keep it now:\n\n  ${secret}\n`,
      ].join('\n'),
      ...(stopped && { exitCode: STOPPED }),
    };
  },
});

/** What is in the workspace beside members and campaigns. */
interface Company {
  readonly id: string;
  readonly name: string;
  readonly groupIds: readonly string[];
  readonly tagIds: readonly string[];
}

type Shown = (more: number) => void;

function shower({ progress }: Session, total: number): Shown {
  let done = 0;
  return (more) => {
    done += more;
    progress.show(done, 'records', done / total);
  };
}

async function makeCompany({ app }: Session, choices: Choices): Promise<Company> {
  const { id, name } = await app.workspaces.create(`Northwind ${choices.of(['Outdoor', 'Trails', 'Supply', 'Works'])}`);
  const groups = GROUPS.map((group) => ({ name: group, description: `Everyone in ${group}` }));
  const groupIds = idsOf(await app.groups.createMany(id, groups));
  const tagIds = idsOf(await app.tags.createMany(id, TAGS));
  const questions = QUESTIONS.map((question) => ({ question, groups: choices.some(groupIds, 2) }));
  await app.inspirationQuestions.createMany(id, questions);
  return { id, name, groupIds, tagIds };
}

async function makeMembers(
  { app, stop }: Session,
  { id, groupIds }: Company,
  choices: Choices,
  count: number,
  shown: Shown,
): Promise<readonly Member[]> {
  const members = [await app.members.create(id, { ...personOf(choices, groupIds, 1), role: 'admin' })];
  while (members.length < count && !stop.aborted) {
    const size = Math.min(AT_ONCE, count - members.length);
    const people = Array.from({ length: size }, (_, i) => personOf(choices, groupIds, members.length + i + 1));
    members.push(...(await Promise.all(people.map((person) => app.members.create(id, person)))));
    shown(size);
  }
  return members;
}

function personOf(choices: Choices, groupIds: readonly string[], number: number): NewMember {
  const name = `${choices.of(FIRST_NAMES)} ${choices.of(LAST_NAMES)}`;
  const letters = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(' ', '.');
  return {
    name,
    email: `${letters}.${number}@northwind.example`,
    seatType: choices.of(['advocate', 'advocate', 'advocate', 'thought_leader']),
    groupIds: choices.some(groupIds, 2),
  };
}

async function makeCampaigns(
  { app, stop, now }: Session,
  company: Company,
  choices: Choices,
  members: readonly Member[],
  count: number,
  shown: Shown,
): Promise<{ readonly count: number; readonly newest: readonly Campaign[] }> {
  const { id: workspaceId } = company;
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
  let made = 0;
  while (made < count && !stop.aborted) {
    const batch = Array.from({ length: Math.min(BATCH, count - made) }, () => ({
      ...campaignOf(choices, now()),
      domain: choices.of([null, slug]),
      tagIds: choices.some(company.tagIds, 3),
      groupIds: choices.some(company.groupIds, 2),
      contentPillarId: choices.of([null, ...pillarIds]),
    }));
    const actor = { workspaceId, member: choices.of(members) };
    newest.push(...recordsOf(await app.campaigns.createMany(actor, batch)));
    newest.splice(0, Math.max(0, newest.length - SHARED));
    made += batch.length;
    shown(batch.length);
  }
  return { count: made, newest };
}

function campaignOf(choices: Choices, now: number): NewCampaign {
  const name = `${choices.of(ADJECTIVES)} ${choices.of(THINGS)} ${choices.of(PLACES)}`;
  const { starts, lasts } = choices.of(WINDOWS);
  const from = choices.between(starts[0], starts[1]);
  const until = from + choices.between(lasts[0], lasts[1]);
  const sample = sampleCampaign(name, choices.of(STATUSES), [from, until], now);
  const campaign = { ...sample, description: continued(choices, sample.description) };
  return choices.below(3) === 0 ? { ...campaign, targetShares: choices.between(1, 20) * 10 } : campaign;
}

/** A text with some more sentences, or many. */
function continued(choices: Choices, start: string): string {
  const [least, most] = choices.below(LONG_ONE_IN) === 0 ? LENGTHS.long : LENGTHS.short;
  const length = choices.between(least, most);
  let text = start;
  while (text.length < length) text += ` ${choices.of(WHO)} ${choices.of(DID)} ${choices.of(WHAT)}.`;
  return text;
}

async function makeShares(
  { app, stop }: Session,
  { id: workspaceId }: Company,
  choices: Choices,
  members: readonly Member[],
  campaigns: readonly Campaign[],
  shown: Shown,
): Promise<number> {
  const published = campaigns.filter(({ status }) => status === 'published');
  const plans = published.map(({ id }) => ({
    id,
    sharers: choices.some(members, SHARERS),
    clicks: choices.below(500),
  }));
  let shares = 0;
  for (let i = 0; i < plans.length && !stop.aborted; i += AT_ONCE) {
    const some = plans.slice(i, i + AT_ONCE);
    await Promise.all(
      some.map(async ({ id, sharers, clicks }) => {
        for (const member of sharers) await app.campaigns.recordShare(workspaceId, id, member.id);
        if (clicks > 0) await app.campaigns.recordClicks(workspaceId, id, clicks);
        shares += sharers.length;
      }),
    );
    shown(some.length);
  }
  return shares;
}

function recordsOf<T>(outcomes: readonly BatchResult<T>[]): T[] {
  return outcomes.filter((outcome): outcome is T => !isRejected(outcome));
}

function idsOf<T extends { readonly id: string }>(outcomes: readonly BatchResult<T>[]): string[] {
  return recordsOf(outcomes).map(({ id }) => id);
}
