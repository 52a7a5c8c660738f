import { ANALYTICS_GROUPINGS } from '../../core/analytics/analytics.ts';
import { formatDay } from '../../core/shared/date.ts';
import { buildActivity, buildCampaign, buildGroup, buildMember, buildTag } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { DAY } from '../support/core.ts';
import { withEngine } from '../support/storage.ts';
import { createWorkspace } from '../support/tenants.ts';
import { databases } from './database.ts';
import { type LoadClient, median } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, formatTable, type Report } from './report.ts';
import { sendRequest } from './requests.ts';
import { startScript } from './server-process.ts';
import { ours } from './servers.ts';

const [DAY_COUNT, MEMBER_COUNT, CAMPAIGN_COUNT, LABEL_COUNT, BATCH_SIZE] = [365, 2_000, 1_000, 20, 1_000];
const LAST_DAY = Date.parse('2026-12-31');
const requests = [{ path: '/campaigns' }, { path: '/me' }];
const OTHER_REQUESTS = { name: '', method: 'GET', requests, connections: 4, durationFactor: 10 } as const;
const HEADS = ['grouping', 'analytics, ms', 'other requests (p99), ms', 'other requests (maximum), ms'];

/** Measures analytics of a year, with as many records as the last of `--sizes`, and other requests meanwhile. */
export async function measureAnalytics(client: LoadClient, options: Options): Promise<Report> {
  const opened = await databases[options.storage]();
  try {
    const settings = opened.createSettings('analytics');
    const key = await seedActivity(settings, options.sizes.at(-1) as number);
    const server = await startScript(ours(settings));
    const other = { ...OTHER_REQUESTS, key };
    await client.warmUp(server, other);
    const measure = async (groupBy?: string) => {
      const path = `/analytics?groupBy=${groupBy}&from=${toDay(DAY_COUNT - 1)}&to=${toDay(0)}`;
      const times: number[] = [];
      let isOver = false;
      const measuring = client.measure(server, undefined, other, options.milliseconds).finally(() => (isOver = true));
      while (groupBy && !isOver) {
        const start = performance.now();
        const { status, body } = await sendRequest(server.port, other, { path });
        if (status !== 200) throw new Error(body);
        times.push(performance.now() - start);
      }
      const { p99, max } = await measuring;
      return [groupBy ?? 'none', ...[median(times), p99, max].map((milliseconds) => formatNumber(milliseconds))];
    };
    const rows = [await measure()];
    for (const groupBy of ANALYTICS_GROUPINGS) rows.push(await measure(groupBy));
    await server.stop();
    return { markdown: formatTable(HEADS, rows) };
  } finally {
    await opened.stop();
  }
}

const toDay = (daysAgo: number) => formatDay(LAST_DAY - daysAgo * DAY);
const at = (records: readonly { readonly id: string }[], i: number) => records[i % records.length]?.id as string;

/** Creates a workspace with activity on each day of a year. Returns the key of its admin. */
async function seedActivity(settings: Readonly<Record<string, string>>, count: number): Promise<string> {
  return withEngine(settings, async ({ groups, tags, members, campaigns, activity }, app) => {
    const { workspaceId, key } = await createWorkspace(app);
    const create = <T>(size: number, build: (i: number) => T) => Array.from({ length: size }, (_, i) => build(i));
    const newGroups = create(LABEL_COUNT, (i) => buildGroup(workspaceId, `Group ${i}`));
    const newTags = create(LABEL_COUNT, (i) => buildTag(workspaceId, `Tag ${i}`));
    const newMembers = create(MEMBER_COUNT, (i) => buildMember(workspaceId, `${i}`, { groupIds: [at(newGroups, i)] }));
    const newCampaigns = create(CAMPAIGN_COUNT, (i) => buildCampaign(workspaceId, { tagIds: [at(newTags, i)] }));
    await Promise.all([addAll(groups, newGroups), addAll(tags, newTags)]);
    await Promise.all([addAll(members, newMembers), addAll(campaigns, newCampaigns)]);
    const idsOf = (i: number) => ({ campaignId: at(newCampaigns, i * 7_919), memberId: at(newMembers, i * 104_729) });
    const createActivity = (i: number) => {
      const day = toDay(DAY_COUNT - 1 - Math.floor((i * DAY_COUNT) / count));
      return buildActivity(workspaceId, { id: `${day}/${i}`, day, ...idsOf(i) });
    };
    const createBatch = (first: number) => create(BATCH_SIZE, (i) => createActivity(first + i));
    for (let first = 0; first < count; first += BATCH_SIZE) await addAll(activity, createBatch(first));
    return key;
  });
}
