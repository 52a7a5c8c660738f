import { databases } from './database.ts';
import { describeFailures, type LoadClient, type Measurement, median } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, formatTable, type Report } from './report.ts';
import {
  createRequestTypes,
  createSearchRequest,
  listCampaignIds,
  type Request,
  type RequestType,
  sendRequest,
} from './requests.ts';
import { type Sample, seedDatabase } from './sample.ts';
import { type BenchServer, startScript } from './server-process.ts';
import { ours } from './servers.ts';
import type { ProcessUsage } from './usage.ts';

const SMALL_CAMPAIGN_COUNT = 1_000;

/** This service on a database with three workspaces: one of `campaigns` campaigns, one of 1,000, and one of 1,000 to warm up. */
interface SizedServer {
  readonly campaigns: number;
  readonly server: BenchServer;
  readonly types: readonly RequestType[];
  /** Creates campaigns in a workspace that is not measured. */
  readonly warmUp: RequestType;
  readonly measurements: Map<string, Measurement[]>;
}

/** Measures this service on databases with growing numbers of campaigns. */
export async function measureGrowth(client: LoadClient, options: Options): Promise<Report> {
  const opened = await databases[options.storage]();
  try {
    const all: SizedServer[] = [];
    for (const campaigns of options.sizes) {
      const settings = opened.createSettings(`bench-${campaigns}`);
      const large = await seedDatabase(settings, campaigns);
      const small = await seedDatabase(settings, SMALL_CAMPAIGN_COUNT);
      const warmUp = await seedDatabase(settings, SMALL_CAMPAIGN_COUNT);
      all.push(await createSizedServer(campaigns, await startScript(ours(settings)), { large, small, warmUp }));
    }
    return await measureServers(all, opened.usage, client, options);
  } finally {
    await opened.stop();
  }
}

/** Prepares the types of requests of a server. Nothing is measured in the workspace `warmUp`. */
async function createSizedServer(
  campaigns: number,
  server: BenchServer,
  { large, small, warmUp }: Readonly<Record<'large' | 'small' | 'warmUp', Sample>>,
): Promise<SizedServer> {
  const { list, get, create, deep } = createRequestTypes(large, large, await listCampaignIds(server.port, large));
  const smallTypes = createRequestTypes(small, small, await listCampaignIds(server.port, small));
  const withFirstRequest = (type: RequestType): RequestType => ({ ...type, requests: type.requests.slice(0, 1) });
  const inSmall = (type: RequestType): RequestType => ({
    ...type,
    name: `${type.name}, in a workspace of ${formatCount(SMALL_CAMPAIGN_COUNT)}`,
  });
  const frequent: RequestType = { ...list, name: 'search with many matches', requests: [createSearchRequest('tents')] };
  const absent: RequestType = { ...list, name: 'search without a match', requests: [createSearchRequest('glacier')] };
  const hasDeepPage = JSON.parse((await sendRequest(server.port, deep, deep.requests[0] as Request)).body).length > 0;
  const types = [
    ...[withFirstRequest(list), get, withFirstRequest(inSmall(smallTypes.list)), inSmall(smallTypes.get), frequent],
    absent,
    ...(hasDeepPage ? [deep] : []),
    // The types that create campaigns are last, because the new campaigns differ from those of the sample.
    ...[create, inSmall(smallTypes.create)],
  ].map((type) => ({ ...type, connections: 1, durationFactor: 1 }));
  return {
    campaigns,
    server,
    types,
    warmUp: { ...create, connections: 1, key: warmUp.key },
    measurements: new Map(),
  };
}

async function measureServers(
  all: readonly SizedServer[],
  database: ProcessUsage | undefined,
  client: LoadClient,
  { rounds, milliseconds }: Options,
): Promise<Report> {
  const names = [...new Set(all.flatMap(({ types }) => types.map(({ name }) => name)))];
  for (const name of names) {
    const pairs = all.flatMap((sized) =>
      sized.types.filter((type) => type.name === name).map((type) => ({ ...sized, type })),
    );
    for (const { server, type, warmUp } of pairs) await client.warmUp(server, type.method === 'GET' ? type : warmUp);
    for (let round = 0; round < rounds; round++) {
      for (const { server, type, measurements } of pairs) {
        const measurement = await client.measure(server, database, type, milliseconds);
        measurements.set(name, [...(measurements.get(name) ?? []), measurement]);
      }
    }
  }
  const markdown = formatReport(all, names);
  await Promise.all(all.map(({ server }) => server.stop()));
  return { markdown };
}

type Quantity = (measurement: Measurement) => number;

const formatCount = (count: number) => count.toLocaleString('en');

function formatReport(all: readonly SizedServer[], names: readonly string[]): string {
  const [first] = all as readonly [SizedServer];
  const medianOf = ({ measurements }: SizedServer, name: string, quantity: Quantity) =>
    median((measurements.get(name) ?? []).map(quantity));
  const sizes = all.map(({ campaigns }) => formatCount(campaigns));
  const formatCell = (sized: SizedServer, name: string, quantity: Quantity) => {
    if (!sized.measurements.has(name)) return '';
    const value = medianOf(sized, name, quantity);
    if (/search|page/.test(name)) return `${formatNumber(value / medianOf(sized, 'list', quantity), 2)} × list`;
    return sized === first ? `${formatNumber(value)} µs` : formatNumber(value / medianOf(first, name, quantity), 2);
  };
  const formatSizes = (title: string, quantity: Quantity) =>
    formatTable(
      [title, ...sizes],
      names.map((name) => [name, ...all.map((sized) => formatCell(sized, name, quantity))]),
    );
  const finalCount = ({ campaigns, measurements }: SizedServer) =>
    campaigns + (measurements.get('create') ?? []).reduce((sum, { requests }) => sum + requests, 0);
  const failures = all.flatMap((sized, i) =>
    names.flatMap((name) => describeFailures(`${name}, of ${sizes[i]}`, sized.measurements.get(name))),
  );
  return [
    `Creates are measured last: at the end, the workspace with ${sizes[0]} campaigns has ${formatCount(finalCount(first))}.`,
    '',
    formatSizes('latency (median)', (it) => it.median * 1000),
    formatSizes('processor time of server and database', (it) => it.cpu + it.databaseCpu),
    formatTable(
      ['server', ...sizes],
      [['memory (RSS) after the run, MiB', ...all.map(({ server }) => formatNumber(server.residentMiB()))]],
    ),
    ...failures,
  ].join('\n');
}
