import assert from 'node:assert/strict';
import { getRedis } from '../support/redis.ts';
import { databases } from './database.ts';
import { describeFailures, type LoadClient, type Measurement, median } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, formatTable, type Report } from './report.ts';
import { comparableContentOf, createRows, listCampaignIds, type Request, type Row, sendRequest } from './requests.ts';
import { type Sample, seedDatabase } from './sample.ts';
import { type RunningServer, startScript } from './server-process.ts';
import { type Contender, createContenders, installPeers } from './servers.ts';
import type { Usage } from './usage.ts';

const START_COUNT = 3;
/** 10,456 of these campaigns are not archived, which is enough for page 400 with 25 campaigns on each page. */
const CAMPAIGN_COUNT = 12_500;
const WRITTEN_CAMPAIGN_COUNT = 1_000;

/** A running server and its measurements: for each name of a row, one measurement per round. */
interface ContenderRun {
  readonly contender: Contender;
  readonly server: RunningServer;
  readonly startMs: number;
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

/** Measures how long a server takes to start, and starts it. */
async function startContender(contender: Contender): Promise<ContenderRun> {
  const starts: number[] = [];
  for (let i = 0; i < START_COUNT; i++) {
    const server = await startScript(contender);
    starts.push(server.startMs);
    await server.stop();
  }
  return { contender, server: await startScript(contender), startMs: median(starts), measurements: new Map() };
}

async function compareRuns(
  runs: readonly ContenderRun[],
  [read, written]: readonly [Sample, Sample],
  database: Usage | undefined,
  client: LoadClient,
  { rounds, milliseconds, rows: chosen }: Options,
): Promise<Report> {
  const { port } = (runs[0] as ContenderRun).server;
  const all = Object.values(createRows(read, written, await listCampaignIds(port, read)));
  const rows = all.filter(({ name }) => chosen.includes(name));
  const pairs = rows.flatMap((row) => runs.map(({ server, measurements }) => ({ row, server, measurements })));
  await assertEqualResponses(pairs);
  for (const { row, server } of pairs) await client.warmUp(server, row);
  for (let round = 0; round < rounds; round++) {
    const ordered = round % 2 === 0 ? pairs : pairs.toReversed();
    for (const { row, server, measurements } of ordered) {
      const before = measurements.get(row.name) ?? [];
      measurements.set(row.name, [...before, await client.measure(server, database, row, milliseconds)]);
    }
  }
  const markdown = formatReport(runs, rows, database !== undefined);
  await Promise.all(runs.map(({ server }) => server.stop()));
  return { markdown, summary: formatSummary(runs, rows) };
}

/** Fails unless all servers return equal responses with records, among them shared and unshared campaigns in `list` and `get`. */
async function assertEqualResponses(
  pairs: readonly { readonly row: Row; readonly server: RunningServer }[],
): Promise<void> {
  const expected = new Map<Request, unknown>();
  for (const { row, server } of pairs) {
    const bodies: string[] = [];
    for (const request of row.requests) {
      const response = await sendRequest(server.port, row, request);
      const content = comparableContentOf(row, response);
      if (!expected.has(request)) expected.set(request, content);
      assert.deepEqual(content, expected.get(request), `${row.name}: the responses differ`);
      assert.ok(response.status < 300 && response.body.length > 2, `${row.name}: a response has no record`);
      bodies.push(response.body);
    }
    const hasBoth = [true, false].every((value) => bodies.some((body) => body.includes(`"hasShared":${value}`)));
    assert.ok(hasBoth || !['list', 'get'].includes(row.name), `${row.name}: needs shared and unshared campaigns`);
  }
}

/** Each figure is the median of all rounds. In brackets is the median of its ratios to the first server in the same round. */
function formatReport(runs: readonly ContenderRun[], rows: readonly Row[], hasDatabaseServer: boolean): string {
  const [first] = runs as readonly [ContenderRun];
  const formatFigure = (run: ContenderRun, row: Row, quantity: Quantity, digits: number) => {
    const figure = formatNumber(median(measurementsOf(run, row).map(quantity)), digits);
    return run === first ? figure : `${figure} (${formatRatio(run, first, row, quantity)})`;
  };
  const formatRows = (title: string, quantity: Quantity, digits = 0) =>
    formatTable(
      [title, ...rows.map(({ name }) => name)],
      runs.map((run) => [run.contender.name, ...rows.map((row) => formatFigure(run, row, quantity, digits))]),
    );
  const failures = runs.flatMap((run) =>
    rows.flatMap((row) => describeFailures(`${row.name} of ${run.contender.name}`, measurementsOf(run, row))),
  );
  return [
    ...runs.map(({ contender: { name, description } }) => `- **${name}**: ${description}.`),
    '',
    `Medians of the rounds. In brackets: the median ratio to ${first.contender.name} in the same round.`,
    '',
    formatRows('requests per second', ({ perSecond }) => perSecond),
    formatRows('processor time of the server, µs per request', ({ cpu }) => cpu),
    ...(hasDatabaseServer
      ? [formatRows('processor time of mongod, µs per request', ({ databaseCpu }) => databaseCpu)]
      : []),
    formatRows('latency (99th percentile), ms', ({ p99 }) => p99, 1),
    formatTable(
      ['', 'time to the first response, ms', 'memory (RSS) after the run, MiB'],
      runs.map(({ contender, server, startMs }) => [
        contender.name,
        formatNumber(startMs),
        formatNumber(server.residentMiB()),
      ]),
    ),
    ...failures,
  ].join('\n');
}

/** Variants of servers that only explain the figures of other servers. The summary omits them. */
const VARIANTS = ['reference-commands', 'ours-unbatched'];

/** Formats the requests per second of this service and of other frameworks, as ratios to those of the first server. */
function formatSummary(runs: readonly ContenderRun[], rows: readonly Row[]): string {
  const [first, ...others] = runs as readonly [ContenderRun, ...ContenderRun[]];
  const lines = others
    .filter(({ contender }) => !VARIANTS.includes(contender.name))
    .map((run) => [
      run.contender.name,
      ...rows.map((row) => formatRatio(run, first, row, ({ perSecond }) => perSecond)),
    ]);
  return formatTable(['server', ...rows.map(({ name }) => name)], lines);
}

type Quantity = (measurement: Measurement) => number;

const measurementsOf = ({ measurements }: ContenderRun, { name }: Row): readonly Measurement[] =>
  measurements.get(name) ?? [];

/** Formats the median of a server's ratios to the first server in all rounds. */
function formatRatio(run: ContenderRun, first: ContenderRun, row: Row, quantity: Quantity): string {
  const base = measurementsOf(first, row);
  const ratios = measurementsOf(run, row).map(
    (measurement, round) => quantity(measurement) / quantity(base[round] as Measurement),
  );
  return formatNumber(median(ratios), 2);
}
