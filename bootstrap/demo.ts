import type { Application } from '../core/application.ts';
import type { Campaign, NewCampaignFields } from '../core/campaign/campaign.ts';
import type { Color } from '../core/shared/color.ts';
import { DAY_MS, formatTimestamp, type ParsedDate, parseEndDate, parseStartDate } from '../core/shared/date.ts';

/** The demo workspace and the API key of its admin. */
export interface Demo {
  readonly workspaceId: string;
  readonly apiKey: string;
}

/** The name of the demo workspace. */
export const DEMO_NAME = 'Northwind Outdoor';
/** The email address of the admin of the demo workspace. */
export const ADMIN_EMAIL = 'ada.winter@northwind.example';

/**
 * Creates a small workspace with records for every list of the API, on any storage. `now` is in milliseconds since the
 * epoch. `secret` is the API key of the admin. By default, a random key is created.
 */
export async function createDemo(app: Application, now: number, secret?: string): Promise<Demo> {
  const { id: workspaceId } = await app.workspaces.create(DEMO_NAME);
  const createGroup = async (name: string) => (await app.groups.create(workspaceId, { name })).id;
  const [marketing, sales] = [await createGroup('Marketing'), await createGroup('Sales')];
  const engineering = await createGroup('Engineering');
  const [seatType, email] = ['thought_leader', 'ben.sommer@northwind.example'] as const;
  const adminFields = {
    name: 'Ada Winter',
    email: ADMIN_EMAIL,
    role: 'admin',
    seatType,
    groups: [marketing],
    invitation: 'accepted',
  } as const;
  const admin = await app.members.create(workspaceId, adminFields);
  const advocateFields = { name: 'Ben Sommer', email, groups: [sales, engineering], invitation: 'accepted' } as const;
  const advocate = await app.members.create(workspaceId, advocateFields);
  const { secret: apiKey } = await app.apiKeys.create(workspaceId, { label: 'demo', memberId: admin.id, secret });

  const questions = [
    { question: 'What did you learn on your last trip outdoors?', icon: 'sun' },
    { question: 'Which customer story made you proud this month?', icon: 'trophy', groups: [sales] },
    { question: 'How do we make our tents last longer?', icon: 'bulb', userType: seatType, groups: [marketing] },
    { question: 'What would you tell someone who starts here?', icon: 'users', userType: 'advocate' },
    { question: 'Which tool do you miss in your daily work?', icon: 'rocket', groups: [engineering], isActive: false },
    { question: 'What was the best moment of the winter fair?', icon: 'calendar', archived: true },
  ] as const;
  for (const question of questions) await app.inspirationQuestions.create(workspaceId, question);

  const createTag = async (name: string) => (await app.tags.create(workspaceId, { name })).id;
  const [launch, hiring] = [await createTag('Launch'), await createTag('Hiring')];
  const [sustainability, events] = [await createTag('Sustainability'), await createTag('Events')];
  const createPillar = async (title: string, color: Color, description: string) =>
    (await app.contentPillars.create({ workspaceId, member: admin }, { title, color, description })).id;
  const outdoors = await createPillar('Life outdoors', 'green', 'What we do when we are not at work.');
  const working = await createPillar('Working with us', 'blue', 'People, teams and open positions.');
  const lasting = await createPillar('Made to last', 'brown', 'Repair, materials and where they come from.');
  const { domain } = await app.domains.createOrArchive(workspaceId, { slug: 'go.northwind.example' });
  await app.domains.markVerified(workspaceId, domain.id);

  const create = async (
    name: string,
    status: Campaign['status'],
    days: DayRange,
    fields: Partial<NewCampaignFields>,
  ) => {
    const campaign = { ...buildSampleCampaign(name, status, days, now), domain: domain.slug, ...fields };
    return (await app.campaigns.create({ workspaceId, member: admin }, campaign)).id;
  };
  const tents = await create('Summer tents are here', 'published', [-10, 20], {
    ...{ tagIds: [launch], groupIds: [marketing, sales], contentPillarId: outdoors },
    image: 'https://northwind.example/tents.jpg',
    resources: [
      { url: 'https://northwind.example/tents.jpg', type: 'image', width: 1600, height: 900 },
      { url: 'https://northwind.example/tents.pdf', type: 'pdf', language: 'en' },
    ],
  });
  const repairs = { tagIds: [sustainability], contentPillarId: lasting, targetShares: 50 };
  const jacket = await create('Repair your jacket', 'published', [-40, 60], repairs);
  const jobs = { tagIds: [hiring], groupIds: [marketing], contentPillarId: working };
  const lisbon = await create('We hire in Lisbon', 'published', [-3, 45], jobs);
  const fair = await create('Winter fair', 'published', [-90, 1], { tagIds: [events], groupIds: [sales] });
  const image = 'https://northwind.example/autumn.jpg';
  await create('Autumn catalogue', 'published', [14, 44], { tagIds: [launch], image });
  await create('Trail clean-up day', 'draft', [30, 31], { tagIds: [events, sustainability] });
  await create('Meet the designers', 'draft', [-5, 25], { contentPillarId: working });
  await create('Last year in numbers', 'archived', [-300, -270], {});

  for (const id of [tents, jacket, lisbon]) await app.shares.create({ workspaceId, member: advocate }, id);
  for (const id of [tents, fair]) await app.shares.create({ workspaceId, member: admin }, id);
  const clicks = [
    { campaignId: tents, memberId: advocate.id, count: 86 },
    { campaignId: tents, memberId: admin.id, count: 42 },
    { campaignId: fair, memberId: admin.id, count: 42 },
  ];
  await app.shares.addClicks({ workspaceId, processId: 'demo', sequence: 1, clicks });
  // Only a running campaign can be shared, so the fair ends afterwards.
  const { endDate } = buildSampleCampaign('', 'published', [-90, -60], now);
  await app.campaigns.update({ workspaceId }, fair, { endDate });
  await app.contentPillars.update(workspaceId, working, { status: 'archived' });
  return { workspaceId, apiKey };
}

/** The first and the last day of a campaign, in days from now. A day in the past is negative. */
type DayRange = readonly [firstDay: number, lastDay: number];

/**
 * Returns a campaign for a sample workspace, with texts, dates and amounts. `now` is in milliseconds since the epoch.
 */
export function buildSampleCampaign(
  name: string,
  status: Campaign['status'],
  [firstDay, lastDay]: DayRange,
  now: number,
): NewCampaignFields {
  const formatDay = (days: number) => formatTimestamp(now + days * DAY_MS).slice(0, 10);
  return {
    name,
    status,
    description: `${name}: share it with your network.`,
    shareContext: 'Say in a sentence what it means to you.',
    objective: 'Reach',
    destinationUrl: `https://northwind.example/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    startDate: parseStartDate(formatDay(firstDay)) as ParsedDate,
    endDate: parseEndDate(formatDay(lastDay)) as ParsedDate,
    shareRewardAmount: '1.5',
    clickRewardAmount: '0.05',
    maxRewardPerEmployee: '50',
    totalBudget: '1000',
  };
}
