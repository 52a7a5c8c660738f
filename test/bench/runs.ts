import type { ProcessUsage } from '../support/usage.ts';
import { describeFailures, type LoadClient, type Measurement, median } from './measure.ts';
import type { Options } from './options.ts';
import { formatNumber, formatTable, type Report } from './report.ts';
import type { RequestType } from './requests.ts';
import { type BenchServer, type Contender, startScript } from './server-process.ts';

const START_COUNT = 3;

/** A running server and its measurements: by the name of each type of request, one measurement per round. */
export interface ServerRun {
  readonly contender: Contender;
  readonly server: BenchServer;
  readonly startMs: number;
  /** The types of requests with which the server is measured. All servers have types with the same names. */
  types: readonly RequestType[];
  readonly measurements: Map<string, Measurement[]>;
}

/** Measures how long a server takes to start, and starts it. */
export async function startRun(contender: Contender): Promise<ServerRun> {
  const starts: number[] = [];
  for (let i = 0; i < START_COUNT; i++) {
    const server = await startScript(contender);
    starts.push(server.startMs);
    await server.stop();
  }
  const server = await startScript(contender);
  return { contender, server, startMs: median(starts), types: [], measurements: new Map() };
}

/** Measures servers, stops them, and returns tables of the results. */
export async function measureRuns(
  runs: readonly ServerRun[],
  database: ProcessUsage | undefined,
  client: LoadClient,
  { rounds, milliseconds }: Options,
): Promise<Report> {
  for (const name of namesOf(runs)) {
    const pairs = runs.map((run) => ({ ...run, type: run.types.find((type) => type.name === name) as RequestType }));
    for (const { server, type } of pairs) await client.warmUp(server, type.warmUp ?? type);
    for (let round = 0; round < rounds; round++) {
      for (const { server, type, measurements } of round % 2 === 0 ? pairs : pairs.toReversed()) {
        const before = measurements.get(name) ?? [];
        measurements.set(name, [...before, await client.measure(server, database, type, milliseconds)]);
      }
    }
  }
  const report = createReport(runs, database !== undefined);
  await Promise.all(runs.map(({ server }) => server.stop()));
  return report;
}

const namesOf = ([first]: readonly ServerRun[]): string[] => first?.types.map(({ name }) => name) ?? [];

type Quantity = (measurement: Measurement) => number;

/**
 * Formats the tables. Figures are medians of all rounds. In brackets is the median of the ratios to the first server in
 * each round.
 */
function createReport(runs: readonly ServerRun[], hasDatabaseServer: boolean): Report {
  const names = namesOf(runs);
  const [first] = runs as readonly [ServerRun];
  const formatFigure = (run: ServerRun, name: string, quantity: Quantity, digits: number) => {
    const figure = formatNumber(median(measurementsOf(run, name).map(quantity)), digits);
    return run === first ? figure : `${figure} (${formatRatio(run, first, name, quantity)})`;
  };
  const formatQuantity = (title: string, quantity: Quantity, digits = 0) =>
    formatTable(
      [title, ...names],
      runs.map((run) => [run.contender.name, ...names.map((name) => formatFigure(run, name, quantity, digits))]),
    );
  const markdown = [
    formatQuantity('requests per second', ({ perSecond }) => perSecond),
    formatQuantity('processor time of the server, µs per request', ({ cpu }) => cpu),
    ...runs.flatMap((run) =>
      names.flatMap((name) => describeFailures(`${name} of ${run.contender.name}`, measurementsOf(run, name))),
    ),
  ];
  const details = [
    ...runs.map(({ contender: { name, description } }) => `- **${name}**: ${description}.`),
    '',
    ...(hasDatabaseServer
      ? [formatQuantity('processor time of mongod, µs per request', ({ databaseCpu }) => databaseCpu)]
      : []),
    formatQuantity('latency (99th percentile), ms', ({ p99 }) => p99, 1),
    formatTable(
      ['', 'time to the first response, ms', 'memory (RSS) after the run, MiB'],
      runs.map(({ contender, server, startMs }) => [
        contender.name,
        formatNumber(startMs),
        formatNumber(server.residentMiB()),
      ]),
    ),
  ];
  return { markdown: markdown.join('\n'), details: details.join('\n') };
}

const measurementsOf = ({ measurements }: ServerRun, name: string): readonly Measurement[] =>
  measurements.get(name) ?? [];

/** Formats the median of a server's ratios to the first server in all rounds. */
function formatRatio(run: ServerRun, first: ServerRun, name: string, quantity: Quantity): string {
  const base = measurementsOf(first, name);
  const ratios = measurementsOf(run, name).map(
    (measurement, round) => quantity(measurement) / quantity(base[round] as Measurement),
  );
  return formatNumber(median(ratios), 2);
}
