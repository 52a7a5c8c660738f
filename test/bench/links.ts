import { findFreePort } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { databases } from './database.ts';
import type { LoadClient } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, type Report } from './report.ts';
import { NEW_ID, type RequestType } from './requests.ts';
import { measureRuns, startRun } from './runs.ts';
import { ours, peer } from './servers.ts';

const CAMPAIGN_COUNT = 10;
const MEMBER_COUNT = 100;
const CONNECTION_COUNT = 32;
const BROWSER_USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/**
 * The user agents of the visitors, by the name of the type of request. A visitor counts once for each link, and a
 * crawler never counts.
 */
const userAgents = {
  crawler: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'same visitor': BROWSER_USER_AGENT,
  'new visitors': `${BROWSER_USER_AGENT} ${NEW_ID}`,
};

const introduction =
  `${formatNumber(CAMPAIGN_COUNT * MEMBER_COUNT)} links are cached, and ${CONNECTION_COUNT} connections request them. A crawler is not ` +
  'counted. The clicks of the same visitor count once for each link, and each new visitor counts.\n\n';

/** Compares redirects of short links with a server that responds to every request with the same redirect. */
export async function compareRedirects(client: LoadClient, options: Options): Promise<Report> {
  const opened = await databases.sqlite();
  const port = await findFreePort();
  const settings = { ...opened.createSettings('links'), LINKS_PORT: String(port), LINKS_URL: 'http://localhost' };
  try {
    const paths = await createLinks(settings);
    const service = await startRun(ours(settings));
    const runs = [await startRun(peer('fixed-redirect')), { ...service, server: { ...service.server, port } }];
    const types = Object.entries(userAgents).map(([name, userAgent]): RequestType => {
      const requests = paths.map((path) => ({ path, userAgent }));
      return { name, method: 'GET', status: 302, requests, connections: CONNECTION_COUNT, durationFactor: 1 };
    });
    for (const run of runs) run.types = types;
    const { markdown, details } = await measureRuns(runs, undefined, client, options);
    return { markdown: introduction + markdown, details };
  } finally {
    await opened.stop();
  }
}

/** Creates shared campaigns. Returns the paths of their links. */
async function createLinks(settings: Readonly<Record<string, string>>): Promise<string[]> {
  return withApplication(settings, async (app) => {
    const { workspaceId, admin } = await createWorkspace(app);
    const paths: string[] = [];
    for (let i = 0; i < CAMPAIGN_COUNT; i++) {
      const fields = { ...createCampaignFields(`campaign ${i}`), destinationUrl: 'https://northwind.example/spring' };
      const { id } = await app.campaigns.create({ workspaceId, member: admin }, fields);
      for (let j = 0; j < MEMBER_COUNT; j++) {
        const fields = { name: `member ${j}`, email: `member-${i}-${j}@northwind.example` };
        const member = await app.members.create(workspaceId, fields);
        const { link } = (await app.shares.create({ workspaceId, member }, id)).share;
        paths.push(new URL(link as string).pathname);
      }
    }
    return paths;
  });
}
