import type { Application } from '../core/application.ts';
import type { Campaign, NewCampaignFields } from '../core/campaign/campaign.ts';
import type { Member } from '../core/member/member.ts';
import type { Color } from '../core/shared/color.ts';
import { DAY_MS, formatDay, type ParsedDate, parseEndDate, parseStartDate } from '../core/shared/date.ts';

/** The demo workspace and the API key of its admin. */
export interface Demo {
  readonly workspaceId: string;
  readonly apiKey: string;
}

/** The name of the demo workspace. */
export const DEMO_NAME = 'Northwind Outdoor';
/** The email address of the admin of the demo workspace. */
export const ADMIN_EMAIL = 'ada.winter@northwind.example';

/** The number of days before today on which the demo workspace has activity. Events are kept for longer. */
const HISTORY_DAY_COUNT = 27;

/**
 * Creates a small workspace with records for every list of the API, and with shares and clicks of the last weeks, on
 * any storage. `now` is in milliseconds since the epoch. `secret` is the API key of the admin. By default, a random key
 * is created.
 */
export async function createDemo(presentApp: Application, now: number, secret?: string): Promise<Demo> {
  let time = now - HISTORY_DAY_COUNT * DAY_MS;
  const app = presentApp.withClock({ now: () => time });
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
    ...{ tagIds: [launch], groupIds: [marketing, sales], contentPillarId: outdoors, totalBudget: '40' },
    image: 'https://northwind.example/tents.jpg',
    resources: [
      { url: 'https://northwind.example/tents.jpg', type: 'image', width: 1600, height: 900 },
      { url: 'https://northwind.example/tents.pdf', type: 'pdf', language: 'en' },
    ],
  });
  const repairs = {
    ...{ tagIds: [sustainability], contentPillarId: lasting, targetShares: 50, totalBudget: '80' },
    // The links of this campaign work in a browser, because they need no domain, and its destination exists.
    ...{ domain: null, destinationUrl: 'https://example.com/?campaign=repair-your-jacket' },
  };
  const jacket = await create('Repair your jacket', 'published', [-40, 60], repairs);
  const jobs = { tagIds: [hiring], groupIds: [marketing], contentPillarId: working, totalBudget: '20' };
  const lisbon = await create('We hire in Lisbon', 'published', [-3, 45], jobs);
  const spent = { tagIds: [events], groupIds: [sales], totalBudget: '10' };
  const fair = await create('Winter fair', 'published', [-90, -8], spent);
  const image = 'https://northwind.example/autumn.jpg';
  await create('Autumn catalogue', 'published', [14, 44], { tagIds: [launch], image });
  await create('Trail clean-up day', 'draft', [30, 31], { tagIds: [events, sustainability] });
  await create('Meet the designers', 'draft', [-5, 25], { contentPillarId: working });
  await create('Last year in numbers', 'archived', [-300, -270], {});

  const shares: readonly DemoShare[] = [
    { campaignId: jacket, member: advocate, days: [-26, 0], clicks: 24 },
    { campaignId: fair, member: admin, days: [-24, -8], clicks: 18 },
    { campaignId: tents, member: advocate, days: [-10, 0], clicks: 40 },
    { campaignId: tents, member: admin, days: [-6, 0], clicks: 30 },
    { campaignId: lisbon, member: advocate, days: [-2, 0], clicks: 16 },
    { campaignId: jacket, member: admin, days: [-1, 0], clicks: 12 },
  ];
  for (let day = -HISTORY_DAY_COUNT; day <= 0; day++) {
    time = now + day * DAY_MS;
    for (const { campaignId, member, days } of shares)
      if (days[0] === day) await app.shares.create({ workspaceId, member }, campaignId);
    const clicks = shares.map((share) => ({
      campaignId: share.campaignId,
      memberId: share.member.id,
      count: countDemoClicks(share, day, time),
    }));
    const batch = { workspaceId, processId: 'demo', sequence: day, clicks: clicks.filter(({ count }) => count > 0) };
    await app.shares.addClicks(batch);
  }
  await app.contentPillars.update(workspaceId, working, { status: 'archived' });
  return { workspaceId, apiKey };
}

/** A share of the demo workspace, between its first day and the last day with clicks. */
interface DemoShare {
  readonly campaignId: string;
  readonly member: Member;
  readonly days: DayRange;
  /** About the number of clicks on the first day. */
  readonly clicks: number;
}

/** Returns the number of clicks on a share on a day: fewer each day, and on weekends. `time` is a time of the day. */
function countDemoClicks({ days: [firstDay, lastDay], clicks }: DemoShare, day: number, time: number): number {
  if (day < firstDay || day > lastDay) return 0;
  const age = day - firstDay;
  const isWeekend = [0, 6].includes(new Date(time).getUTCDay());
  return Math.ceil(clicks * 0.95 ** age * (isWeekend ? 0.4 : 1)) + ((age * 7) % 5);
}

/** The first and the last day of a campaign or a share, in days from now. A day in the past is negative. */
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
  const toDay = (days: number) => formatDay(now + days * DAY_MS);
  return {
    name,
    status,
    description: `${name}: share it with your network.`,
    shareContext: 'Say in a sentence what it means to you.',
    objective: 'Reach',
    destinationUrl: `https://northwind.example/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    startDate: parseStartDate(toDay(firstDay)) as ParsedDate,
    endDate: parseEndDate(toDay(lastDay)) as ParsedDate,
    shareRewardAmount: '1.5',
    clickRewardAmount: '0.05',
    maxRewardPerEmployee: '50',
    totalBudget: '1000',
  };
}
