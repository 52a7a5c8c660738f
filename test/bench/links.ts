import { join } from 'node:path';
import { findFreePort } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { databases } from './database.ts';
import { describeFailures, type LoadClient, type MeasuredServer, type Measurement, median } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, formatTable, type Report } from './report.ts';
import { NEW_ID, type RequestType } from './requests.ts';
import { startScript } from './server-process.ts';

const CAMPAIGN_COUNT = 10;
const MEMBER_COUNT = 100;
const PATHS = { reference: '../../../test/bench/peers/fixed-redirect.js', service: '../../bootstrap/main.js' };
const BROWSER_USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** The user agents of the visitors, by the name of the type of request. A visitor counts once for each link, and a crawler never counts. */
const userAgents = {
  crawler: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'same visitor': BROWSER_USER_AGENT,
  'new visitors': `${BROWSER_USER_AGENT} ${NEW_ID}`,
};

/** Compares redirects of short links with a `node:http` server that responds to every request with the same redirect. */
export async function compareRedirects(client: LoadClient, { rounds, milliseconds }: Options): Promise<Report> {
  const opened = await databases.sqlite();
  const linksPort = await findFreePort();
  const links = { LINKS_PORT: String(linksPort), LINKS_URL: 'http://localhost' };
  const settings = { ...opened.createSettings('links'), ...links };
  const start = (path: string, hasLog: boolean) =>
    startScript({ path: join(import.meta.dirname, path), environment: settings, hasLog });
  try {
    const paths = await createLinks(settings);
    const [reference, service] = [await start(PATHS.reference, false), await start(PATHS.service, true)];
    const servers: readonly [string, MeasuredServer][] = [
      ['reference', reference],
      ['ours', { ...service, port: linksPort }],
    ];
    const types = Object.entries(userAgents).map(([name, userAgent]) => createRequestType(name, userAgent, paths));
    const measured = new Map<string, Measurement[]>();
    for (const type of types) for (const [, server] of servers) await client.warmUp(server, type);
    for (let round = 0; round < rounds; round++) {
      for (const type of types) {
        for (const [name, server] of servers) {
          const key = `${type.name} of ${name}`;
          const measurement = await client.measure(server, undefined, type, milliseconds);
          measured.set(key, [...(measured.get(key) ?? []), measurement]);
        }
      }
    }
    await Promise.all([reference.stop(), service.stop()]);
    return { markdown: formatReport(types, measured) };
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

function createRequestType(name: string, userAgent: string, paths: readonly string[]): RequestType {
  const requests = paths.map((path) => ({ path, userAgent }));
  return { name, method: 'GET', status: 302, requests, connections: 32, durationFactor: 1 };
}

function formatReport(types: readonly RequestType[], measured: ReadonlyMap<string, readonly Measurement[]>): string {
  const of = (type: RequestType, name: string) => measured.get(`${type.name} of ${name}`) as readonly Measurement[];
  const medianOf = (type: RequestType, name: string, quantity: (measurement: Measurement) => number) =>
    median(of(type, name).map(quantity));
  const lines = types.map((type) => {
    const references = of(type, 'reference');
    const ratio = median(of(type, 'ours').map(({ perSecond }, i) => perSecond / (references[i]?.perSecond ?? 0)));
    return [
      type.name,
      formatNumber(medianOf(type, 'reference', ({ perSecond }) => perSecond)),
      `${formatNumber(medianOf(type, 'ours', ({ perSecond }) => perSecond))} (${formatNumber(ratio, 2)})`,
      formatNumber(medianOf(type, 'reference', ({ cpu }) => cpu)),
      formatNumber(medianOf(type, 'ours', ({ cpu }) => cpu)),
      formatNumber(
        medianOf(type, 'reference', ({ p99 }) => p99),
        1,
      ),
      formatNumber(
        medianOf(type, 'ours', ({ p99 }) => p99),
        1,
      ),
    ];
  });
  const heads = ['per second', 'processor time, µs', 'p99, ms'].flatMap((it) => [`${it}, reference`, `${it}, ours`]);
  const failures = types.flatMap((type) => describeFailures(type.name, of(type, 'ours')));
  return [
    `The reference is a server on \`node:http\` that responds to every request with the same 302. ${formatNumber(CAMPAIGN_COUNT * MEMBER_COUNT)} links are cached, and ${types[0]?.connections} connections request them. A crawler is not counted. The clicks of the same visitor count once for each link, and each new visitor counts.`,
    '',
    formatTable(['visitors', ...heads], lines),
    ...failures,
  ].join('\n');
}
