import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRedis } from '../support/redis.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { type Client, failuresOf, type Measure, median } from './measure.ts';
import type { Options } from './options.ts';
import { shown, type Told, table } from './report.ts';
import { type Answer, ask, essence, listedCampaigns, type Request, type Row, rowsOf } from './requests.ts';
import { type Sample, type Seeded, seedDatabase } from './sample.ts';
import { type Script, type ServerProcess, startServer } from './server-process.ts';
import { bareWith, type Contender, contendersOn, installPeers, oursAsStarted, oursInMemory } from './servers.ts';
import { type Usage, usageOf } from './usage.ts';

const STARTS = 3;
/** Of which 10,456 are not archived: enough for page 400. */
const CAMPAIGNS = 12_500;
const CAMPAIGNS_WRITTEN = 1_000;

/** A server that runs, and its measures by the name of the row, one for each round. */
interface Running {
  readonly contender: Contender;
  readonly server: ServerProcess;
  readonly startMs: number;
  readonly measures: Map<string, Measure[]>;
}

/** Compares this service on MongoDB with others on the same server. */
export async function compareOnMongodb(client: Client, options: Options): Promise<Told> {
  const database = await startReplicaSet();
  const needsRedis = ['ours-redis', 'ours-workers'].some((name) => options.servers.includes(name));
  const limiter = needsRedis ? await getRedis() : undefined;
  const uri = `${database.uri.replace('/?', '/bench?')}&w=majority&journal=true&maxPoolSize=50`;
  try {
    const read = await seedDatabase(uri, CAMPAIGNS);
    const written = await seedDatabase(uri, CAMPAIGNS_WRITTEN);
    const contenders = contendersOn(uri, [read, written], limiter?.url).filter(({ name }) =>
      options.servers.includes(name),
    );
    if (contenders.some(({ name }) => !name.startsWith('ours') && !name.startsWith('reference'))) installPeers();
    const running: Running[] = [];
    for (const contender of contenders) running.push(await run(contender));
    const usage = usageOf((await database.findPrimary()).pid);
    return await compare(running, [read, written], usage, client, options);
  } finally {
    await Promise.all([database.stop(), limiter?.stop()]);
  }
}

/** Compares this service on memory storage with a bare server. */
export async function compareInMemory(client: Client, options: Options): Promise<Told> {
  const ours = await run(oursInMemory([CAMPAIGNS, CAMPAIGNS_WRITTEN]), oursAsStarted());
  const { samples } = (await ours.server.told) as Seeded;
  const [read, written] = samples as [Sample, Sample];
  const folder = await mkdtemp(join(tmpdir(), 'advocacy-bench-'));
  try {
    const file = join(folder, 'answers.json');
    await writeFile(file, JSON.stringify(await answersOf(ours.server.port, [read, written])));
    const bare = await run(bareWith(file));
    return await compare([bare, ours], [read, written], undefined, client, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a server answers each request, by what the bare one looks at. */
async function answersOf(port: number, [read, written]: readonly [Sample, Sample]): Promise<[string, Answer][]> {
  const rows = Object.values(rowsOf(read, written, await listedCampaigns(port, read)));
  const pairs = rows.flatMap((row) => row.requests.map((request) => ({ row, request })));
  const answers: [string, Answer][] = [];
  for (const { row, request } of pairs) {
    const { path, body } = request;
    answers.push([body === undefined ? path : JSON.parse(body).name, await ask(port, row, request)]);
  }
  return answers;
}

/** Starts a server, and what stands for it a few times before, to know how long that takes. */
async function run(contender: Contender, started: Script = contender): Promise<Running> {
  const starts: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const server = await startServer(started);
    starts.push(server.startMs);
    await server.stop();
  }
  return { contender, server: await startServer(contender), startMs: median(starts), measures: new Map() };
}

async function compare(
  running: readonly Running[],
  [read, written]: readonly [Sample, Sample],
  database: Usage | undefined,
  client: Client,
  { rounds, milliseconds, rows: chosen }: Options,
): Promise<Told> {
  const { port } = (running[0] as Running).server;
  const all = Object.values(rowsOf(read, written, await listedCampaigns(port, read)));
  const rows = all.filter(({ name }) => chosen.includes(name));
  const pairs = rows.flatMap((row) => running.map(({ server, measures }) => ({ row, server, measures })));
  await requireEqual(pairs);
  for (const { row, server } of pairs) await client.warmUp(server, row);
  for (let round = 0; round < rounds; round++) {
    const inTurn = round % 2 === 0 ? pairs : pairs.toReversed();
    for (const { row, server, measures } of inTurn) {
      const before = measures.get(row.name) ?? [];
      measures.set(row.name, [...before, await client.measure(server, database, row, milliseconds)]);
    }
  }
  const comparison = { told: report(running, rows, database !== undefined), summary: summary(running, rows) };
  await Promise.all(running.map(({ server }) => server.stop()));
  return comparison;
}

/** Every server answers every request alike, and the requests find what they are about. */
async function requireEqual(pairs: readonly { readonly row: Row; readonly server: ServerProcess }[]): Promise<void> {
  const expected = new Map<Request, unknown>();
  for (const { row, server } of pairs) {
    const bodies: string[] = [];
    for (const request of row.requests) {
      const answer = await ask(server.port, row, request);
      const content = essence(row, answer);
      if (!expected.has(request)) expected.set(request, content);
      assert.deepEqual(content, expected.get(request), `${row.name} is answered alike`);
      assert.ok(answer.status < 300 && answer.body.length > 2, `${row.name} finds something`);
      bodies.push(answer.body);
    }
    const seesBoth = [true, false].every((is) => bodies.some((body) => body.includes(`"hasShared":${is}`)));
    assert.ok(seesBoth || !['list', 'get'].includes(row.name), `${row.name} finds what is shared and what is not`);
  }
}

/** Each figure is the median of the rounds, and behind it that of its ratios to the first server's in the same round. */
function report(running: readonly Running[], rows: readonly Row[], hasDatabase: boolean): string {
  const [first] = running as readonly [Running];
  const figure = (of: Running, row: Row, quantity: Quantity, digits: number) => {
    const middle = shown(median(measuresOf(of, row).map(quantity)), digits);
    return of === first ? middle : `${middle} (${ratio(of, first, row, quantity)})`;
  };
  const perRow = (title: string, quantity: Quantity, digits = 0) =>
    table(
      [title, ...rows.map(({ name }) => name)],
      running.map((of) => [of.contender.name, ...rows.map((row) => figure(of, row, quantity, digits))]),
    );
  const failures = running.flatMap((of) =>
    rows.flatMap((row) => failuresOf(`${row.name} of ${of.contender.name}`, measuresOf(of, row))),
  );
  return [
    ...running.map(({ contender: { name, is } }) => `- **${name}**: ${is}.`),
    '',
    `Medians of the rounds; in brackets, those of the ratios to ${first.contender.name} in the same round.`,
    '',
    perRow('requests a second', ({ perSecond }) => perSecond),
    perRow('CPU of the server, µs a request', ({ cpu }) => cpu),
    ...(hasDatabase ? [perRow('CPU of mongod, µs a request', ({ databaseCpu }) => databaseCpu)] : []),
    perRow('99 of 100 answered within, ms', ({ p99 }) => p99, 1),
    table(
      ['', 'first answer after, ms', 'memory (RSS) at the end, MiB'],
      running.map(({ contender, server, startMs }) => [contender.name, shown(startMs), shown(server.residentMiB())]),
    ),
    ...failures,
  ].join('\n');
}

/** Variants of servers, which only explain the figures of the others. */
const VARIANTS = ['reference-commands', 'ours-unbatched'];

/** The requests per second of this service and of other frameworks, as ratios to those of the first server. */
function summary(running: readonly Running[], rows: readonly Row[]): string {
  const [first, ...others] = running as readonly [Running, ...Running[]];
  const lines = others
    .filter(({ contender }) => !VARIANTS.includes(contender.name))
    .map((of) => [of.contender.name, ...rows.map((row) => ratio(of, first, row, ({ perSecond }) => perSecond))]);
  return table(['server', ...rows.map(({ name }) => name)], lines);
}

type Quantity = (measure: Measure) => number;

const measuresOf = ({ measures }: Running, { name }: Row): readonly Measure[] => measures.get(name) ?? [];

/** The median of the ratios of each round. */
function ratio(of: Running, first: Running, row: Row, quantity: Quantity): string {
  const theirs = measuresOf(first, row);
  const ratios = measuresOf(of, row).map((measure, round) => quantity(measure) / quantity(theirs[round] as Measure));
  return shown(median(ratios), 2);
}
