import assert from 'node:assert/strict';
import { redis } from '../support/redis.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { type Client, type Measure, median } from './measure.ts';
import type { Options } from './options.ts';
import { shown, table } from './report.ts';
import { ask, essence, type Row, rowsOf, sharedCampaign } from './requests.ts';
import { type Sample, seedDatabase } from './sample.ts';
import { type Script, type ServerProcess, startServer } from './server-process.ts';
import { bareWith, type Contender, contendersOn, installPeers, oursAsStarted, oursInMemory } from './servers.ts';
import { type Usage, usageOf } from './usage.ts';

const WARM_UP_MS = 1_000;
const STARTS = 3;
/** Of which 10,000 are not archived: enough for page 400. */
const CAMPAIGNS = 12_500;
const CAMPAIGNS_WRITTEN = 1_000;

/** A server that runs, and its measures by the name of the row, one for each round. */
interface Running {
  readonly contender: Contender;
  readonly server: ServerProcess;
  readonly startMs: number;
  readonly measures: Map<string, Measure[]>;
}

/** Compares this service on MongoDB with others on the same server. Tells it in Markdown. */
export async function compareOnMongodb(client: Client, options: Options): Promise<string> {
  const database = await startReplicaSet();
  const limiter = options.servers.includes('ours-redis') ? await redis() : undefined;
  const uri = `${database.uri.replace('/?', '/bench?')}&w=majority&journal=true&maxPoolSize=50`;
  try {
    const read = await seedDatabase(uri, CAMPAIGNS);
    const written = await seedDatabase(uri, CAMPAIGNS_WRITTEN);
    const contenders = contendersOn(uri, [read, written], limiter?.url).filter(({ name }) =>
      options.servers.includes(name),
    );
    if (contenders.some(({ name }) => !name.startsWith('ours') && name !== 'reference')) installPeers();
    const running: Running[] = [];
    for (const contender of contenders) running.push(await run(contender));
    const usage = usageOf((await database.primary()).pid);
    return await compare(running, [read, written], usage, client, options);
  } finally {
    await Promise.all([database.stop(), limiter?.stop()]);
  }
}

/** Compares this service on memory storage with a bare server. Tells it in Markdown. */
export async function compareInMemory(client: Client, options: Options): Promise<string> {
  const ours = await run(oursInMemory([CAMPAIGNS, CAMPAIGNS_WRITTEN]), oursAsStarted());
  const [read, written] = (await ours.server.told) as [Sample, Sample];
  const answers = [];
  for (const row of rowsOf(read, written, await sharedCampaign(ours.server.port, read))) {
    answers.push([`${row.method} ${row.path}`, await ask(ours.server.port, row)]);
  }
  const bare = await run(bareWith(Object.fromEntries(answers)));
  const running = [bare, ours].filter(({ contender: { name } }) => options.servers.includes(name));
  return compare(running, [read, written], undefined, client, options);
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
): Promise<string> {
  const { port } = (running[0] as Running).server;
  const rows = rowsOf(read, written, await sharedCampaign(port, read)).filter(({ name }) => chosen.includes(name));
  const pairs = rows.flatMap((row) =>
    running
      .filter(({ contender }) => contender.rows?.includes(row.name) ?? true)
      .map(({ server, measures }) => ({ row, server, measures })),
  );
  await requireEqual(pairs);
  for (const { row, server } of pairs) await client.measure(server, database, row, WARM_UP_MS);
  for (let round = 0; round < rounds; round++) {
    for (const { row, server, measures } of pairs) {
      const before = measures.get(row.name) ?? [];
      measures.set(row.name, [...before, await client.measure(server, database, row, milliseconds)]);
    }
  }
  const told = report(running, rows, database !== undefined);
  await Promise.all(running.map(({ server }) => server.stop()));
  return told;
}

/** Every server answers every request alike, and the requests find what they are about. */
async function requireEqual(pairs: readonly { readonly row: Row; readonly server: ServerProcess }[]): Promise<void> {
  const expected = new Map<Row, unknown>();
  for (const { row, server } of pairs) {
    const answer = await ask(server.port, row);
    const content = essence(row, answer);
    if (!expected.has(row)) expected.set(row, content);
    assert.deepEqual(content, expected.get(row), `${row.name} is answered alike`);
    assert.ok(answer.status < 300 && answer.body.length > 2, `${row.name} finds something`);
    if (row.name === 'list') assert.match(answer.body, /"hasShared":true.*"hasShared":false|"hasShared":false.*true/);
  }
}

function report(running: readonly Running[], rows: readonly Row[], hasDatabase: boolean): string {
  const first = running[0] as Running;
  const measuresOf = ({ measures }: Running, { name }: Row) => measures.get(name) ?? [];
  const perRow = (title: string, cell: (measures: readonly Measure[], row: Row) => string) =>
    table(
      [title, ...rows.map(({ name }) => name)],
      running.map((of) => [
        of.contender.name,
        ...rows.map((row) => (measuresOf(of, row).length > 0 ? cell(measuresOf(of, row), row) : '')),
      ]),
    );
  const failed = running.flatMap((of) =>
    rows.flatMap((row) => {
      const failures = measuresOf(of, row).reduce((sum, it) => sum + it.failures, 0);
      return failures > 0 ? `${failures} requests of ${of.contender.name}, ${row.name}, failed.` : [];
    }),
  );
  const middle = (measures: readonly Measure[], of: (measure: Measure) => number) => median(measures.map(of));
  return [
    ...running.map(({ contender: { name, is } }) => `- **${name}**: ${is}.`),
    '',
    perRow(`requests a second, of those of ${first.contender.name}`, (measures, row) => {
      const theirs = measuresOf(first, row);
      const ratios = measures.map(({ perSecond }, round) => perSecond / (theirs[round] as Measure).perSecond);
      const absolute = middle(measures, ({ perSecond }) => perSecond).toFixed();
      return measures === theirs ? `1 (${absolute}/s)` : shown(median(ratios), 2);
    }),
    perRow('CPU of the server, µs a request', (measures) => shown(middle(measures, ({ cpu }) => cpu))),
    ...(hasDatabase
      ? [perRow('CPU of mongod, µs a request', (measures) => shown(middle(measures, (it) => it.databaseCpu)))]
      : []),
    perRow('99 of 100 answered within, ms', (measures) =>
      shown(
        middle(measures, ({ p99 }) => p99),
        1,
      ),
    ),
    table(
      ['', 'first answer after, ms', 'memory (RSS) at the end, MiB'],
      running.map(({ contender, server, startMs }) => [contender.name, shown(startMs), shown(server.residentMiB())]),
    ),
    ...failed,
  ].join('\n');
}
