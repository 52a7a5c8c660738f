import assert from 'node:assert/strict';
import { getRedis } from '../support/redis.ts';
import { databases } from './database.ts';
import { describeFailures, type LoadClient, type Measurement, median } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, formatTable, type Report } from './report.ts';
import {
  comparableContentOf,
  createRequestTypes,
  listCampaignIds,
  type Request,
  type RequestType,
  sendRequest,
} from './requests.ts';
import { type Sample, seedDatabase } from './sample.ts';
import { type BenchServer, startScript } from './server-process.ts';
import { type Contender, createContenders, installPeers } from './servers.ts';
import type { ProcessUsage } from './usage.ts';

const START_COUNT = 3;
/** 10,456 of these campaigns are not archived, which is enough for page 400 with 25 campaigns on each page. */
const CAMPAIGN_COUNT = 12_500;
const WRITTEN_CAMPAIGN_COUNT = 1_000;

/** The time and the processor time that a server needs until its first response. */
interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

/** A running server and its measurements: by the name of each type of request, one measurement per round. */
interface ContenderRun {
  readonly contender: Contender;
  readonly server: BenchServer;
  readonly start: Start;
  readonly measurements: Map<string, Measurement[]>;
}

/** Compares this service with other servers on the same database. */
export async function compareServers(client: LoadClient, options: Options): Promise<Report> {
  const opened = await databases[options.storage]();
  const needsRedis = ['ours-redis', 'ours-workers'].some((name) => options.servers.includes(name));
  const redisServer = needsRedis ? await getRedis() : undefined;
  const settings = opened.createSettings('bench');
  try {
    const read = await seedDatabase(settings, CAMPAIGN_COUNT);
    const written = await seedDatabase(settings, WRITTEN_CAMPAIGN_COUNT);
    const all = createContenders(settings, [read, written], redisServer?.url);
    const contenders = all.filter(({ name }) => options.servers.includes(name));
    if (contenders.some(({ name }) => !name.startsWith('ours') && !name.startsWith('reference'))) installPeers();
    const runs: ContenderRun[] = [];
    for (const contender of contenders) runs.push(await startContender(contender));
    return await compareRuns(runs, [read, written], opened.usage, client, options);
  } finally {
    await Promise.all([opened.stop(), redisServer?.stop()]);
  }
}

/** Measures what a server needs to start, and starts it. */
async function startContender(contender: Contender): Promise<ContenderRun> {
  const starts: Start[] = [];
  for (let i = 0; i < START_COUNT; i++) {
    const server = await startScript(contender);
    starts.push({ ms: server.startMs, cpuMs: server.cpuSeconds() * 1_000 });
    await server.stop();
  }
  const start = { ms: median(starts.map(({ ms }) => ms)), cpuMs: median(starts.map(({ cpuMs }) => cpuMs)) };
  return { contender, server: await startScript(contender), start, measurements: new Map() };
}

async function compareRuns(
  runs: readonly ContenderRun[],
  [read, written]: readonly [Sample, Sample],
  database: ProcessUsage | undefined,
  client: LoadClient,
  { rounds, milliseconds, types: chosen }: Options,
): Promise<Report> {
  const { port } = (runs[0] as ContenderRun).server;
  const all = Object.values(createRequestTypes(read, written, await listCampaignIds(port, read)));
  const types = all.filter(({ name }) => chosen.includes(name));
  const pairs = types.flatMap((type) => runs.map(({ server, measurements }) => ({ type, server, measurements })));
  await assertEqualResponses(pairs);
  for (const { type, server } of pairs) await client.warmUp(server, type);
  for (let round = 0; round < rounds; round++) {
    const ordered = round % 2 === 0 ? pairs : pairs.toReversed();
    for (const { type, server, measurements } of ordered) {
      const before = measurements.get(type.name) ?? [];
      measurements.set(type.name, [...before, await client.measure(server, database, type, milliseconds)]);
    }
  }
  const markdown = formatReport(runs, types, database !== undefined);
  await Promise.all(runs.map(({ server }) => server.stop()));
  return { markdown, summary: formatSummary(runs, types) };
}

/** Fails unless all servers return equal responses with records, among them shared and unshared campaigns in `list` and `get`. */
async function assertEqualResponses(
  pairs: readonly { readonly type: RequestType; readonly server: BenchServer }[],
): Promise<void> {
  const expected = new Map<Request, unknown>();
  for (const { type, server } of pairs) {
    const bodies: string[] = [];
    for (const request of type.requests) {
      const response = await sendRequest(server.port, type, request);
      const content = comparableContentOf(type, response);
      if (!expected.has(request)) expected.set(request, content);
      assert.deepEqual(content, expected.get(request), `${type.name}: the responses differ`);
      assert.ok(response.status < 300 && response.body.length > 2, `${type.name}: a response has no record`);
      bodies.push(response.body);
    }
    const hasBoth = [true, false].every((value) => bodies.some((body) => body.includes(`"hasShared":${value}`)));
    assert.ok(hasBoth || !['list', 'get'].includes(type.name), `${type.name}: needs shared and unshared campaigns`);
  }
}

/** Formats the tables. Figures are medians of all rounds. In brackets is the median of the ratios to the first server in each round. */
function formatReport(
  runs: readonly ContenderRun[],
  types: readonly RequestType[],
  hasDatabaseServer: boolean,
): string {
  const [first] = runs as readonly [ContenderRun];
  const formatFigure = (run: ContenderRun, type: RequestType, quantity: Quantity, digits: number) => {
    const figure = formatNumber(median(measurementsOf(run, type).map(quantity)), digits);
    return run === first ? figure : `${figure} (${formatRatio(run, first, type, quantity)})`;
  };
  const formatQuantity = (title: string, quantity: Quantity, digits = 0) =>
    formatTable(
      [title, ...types.map(({ name }) => name)],
      runs.map((run) => [run.contender.name, ...types.map((type) => formatFigure(run, type, quantity, digits))]),
    );
  const failures = runs.flatMap((run) =>
    types.flatMap((type) => describeFailures(`${type.name} of ${run.contender.name}`, measurementsOf(run, type))),
  );
  return [
    ...runs.map(({ contender: { name, description } }) => `- **${name}**: ${description}.`),
    '',
    formatQuantity('requests per second', ({ perSecond }) => perSecond),
    formatQuantity('processor time of the server, µs per request', ({ cpu }) => cpu),
    ...(hasDatabaseServer
      ? [formatQuantity('processor time of mongod, µs per request', ({ databaseCpu }) => databaseCpu)]
      : []),
    formatQuantity('latency (99th percentile), ms', ({ p99 }) => p99, 1),
    formatTable(
      [
        '',
        'time to the first response, ms',
        'processor time to the first response, ms',
        'memory (RSS) after the run, MiB',
      ],
      runs.map(({ contender, server, start }) => [
        contender.name,
        formatNumber(start.ms),
        formatNumber(start.cpuMs),
        formatNumber(server.residentMiB()),
      ]),
    ),
    ...failures,
  ].join('\n');
}

/** Variants of servers that only explain the figures of other servers. The summary omits them. */
const VARIANTS = ['reference-commands', 'ours-unbatched'];

/** Formats the requests per second of this service and of other frameworks, as ratios to those of the first server. */
function formatSummary(runs: readonly ContenderRun[], types: readonly RequestType[]): string {
  const [first, ...others] = runs as readonly [ContenderRun, ...ContenderRun[]];
  const lines = others
    .filter(({ contender }) => !VARIANTS.includes(contender.name))
    .map((run) => [
      run.contender.name,
      ...types.map((type) => formatRatio(run, first, type, ({ perSecond }) => perSecond)),
    ]);
  return formatTable(['server', ...types.map(({ name }) => name)], lines);
}

type Quantity = (measurement: Measurement) => number;

const measurementsOf = ({ measurements }: ContenderRun, { name }: RequestType): readonly Measurement[] =>
  measurements.get(name) ?? [];

/** Formats the median of a server's ratios to the first server in all rounds. */
function formatRatio(run: ContenderRun, first: ContenderRun, type: RequestType, quantity: Quantity): string {
  const base = measurementsOf(first, type);
  const ratios = measurementsOf(run, type).map(
    (measurement, round) => quantity(measurement) / quantity(base[round] as Measurement),
  );
  return formatNumber(median(ratios), 2);
}
