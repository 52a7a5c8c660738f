import { startReplicaSet } from '../support/replica-set.ts';
import { type Client, failuresOf, type Measure, median } from './measure.ts';
import type { Options } from './options.ts';
import { shown, type Told, table } from './report.ts';
import { ask, listedCampaigns, type Request, type Row, rowsOf, searchFor } from './requests.ts';
import { type Sample, type Seeded, seedDatabase } from './sample.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { oursInMemory, oursOn } from './servers.ts';
import { type Usage, usageOf } from './usage.ts';

const SMALL = 1_000;

/** This service over so many campaigns in one workspace, and 1,000 in another one. */
interface Sized {
  readonly campaigns: number;
  readonly server: ServerProcess;
  readonly rows: readonly Row[];
  /** Creates of a workspace in which none is measured. */
  readonly warmUp: Row;
  readonly measures: Map<string, Measure[]>;
  readonly takes: Omit<Seeded, 'samples'>;
}

/** Measures this service on databases with more and more campaigns. Tells it in Markdown. */
export async function flatOnMongodb(client: Client, options: Options): Promise<Told> {
  const database = await startReplicaSet();
  try {
    const all: Sized[] = [];
    for (const campaigns of options.sizes) {
      const uri = database.uri.replace('/?', `/bench-${campaigns}?`);
      const samples: Sample[] = [];
      for (const count of [campaigns, SMALL, SMALL]) samples.push(await seedDatabase(uri, count));
      all.push(await sized(campaigns, await startServer(oursOn(uri)), { samples }));
    }
    return await measureAll(all, usageOf((await database.findPrimary()).pid), client, options);
  } finally {
    await database.stop();
  }
}

/** As `flatOnMongodb`, on memory storage. */
export async function flatInMemory(client: Client, options: Options): Promise<Told> {
  const all: Sized[] = [];
  for (const campaigns of options.sizes) {
    const server = await startServer(oursInMemory([campaigns, SMALL, SMALL]));
    all.push(await sized(campaigns, server, (await server.told) as Seeded));
  }
  return measureAll(all, undefined, client, options);
}

/** `samples` are one of so many campaigns, a small one, and another for the warm-up. */
async function sized(campaigns: number, server: ServerProcess, { samples, ...takes }: Seeded): Promise<Sized> {
  const [large, small, warmUp] = samples as readonly [Sample, Sample, Sample];
  const { list, get, create, deep } = rowsOf(large, large, await listedCampaigns(server.port, large));
  const others = rowsOf(small, small, await listedCampaigns(server.port, small));
  const first = (row: Row): Row => ({ ...row, requests: row.requests.slice(0, 1) });
  const inSmall = (row: Row): Row => ({ ...row, name: `${row.name}, in a workspace of ${SMALL}` });
  const often: Row = { ...list, name: 'search for one in ten', requests: [searchFor('tents')] };
  const absent: Row = { ...list, name: 'search for what is not there', requests: [searchFor('glacier')] };
  const isDeep = JSON.parse((await ask(server.port, deep, deep.requests[0] as Request)).body).length > 0;
  const rows = [
    ...[first(list), get, first(inSmall(others.list)), inSmall(others.get), often],
    absent,
    ...(isDeep ? [deep] : []),
    // What creates add would make lists of another kind of campaign.
    ...[create, inSmall(others.create)],
  ].map((row) => ({ ...row, connections: 1, lasts: 1 }));
  return {
    campaigns,
    server,
    rows,
    warmUp: { ...create, connections: 1, key: warmUp.key },
    measures: new Map(),
    takes,
  };
}

async function measureAll(
  all: readonly Sized[],
  database: Usage | undefined,
  client: Client,
  { rounds, milliseconds }: Options,
): Promise<Told> {
  const names = [...new Set(all.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  for (const name of names) {
    const pairs = all.flatMap((of) => of.rows.filter((row) => row.name === name).map((row) => ({ ...of, row })));
    for (const { server, row, warmUp } of pairs) await client.warmUp(server, row.method === 'GET' ? row : warmUp);
    for (let round = 0; round < rounds; round++) {
      for (const { server, row, measures } of pairs) {
        const measure = await client.measure(server, database, row, milliseconds);
        measures.set(name, [...(measures.get(name) ?? []), measure]);
      }
    }
  }
  const told = report(all, names);
  await Promise.all(all.map(({ server }) => server.stop()));
  return { told };
}

function report(all: readonly Sized[], names: readonly string[]): string {
  const [first] = all as readonly [Sized];
  const middle = ({ measures }: Sized, name: string, of: (measure: Measure) => number) =>
    median((measures.get(name) ?? []).map(of));
  const sizes = all.map(({ campaigns }) => campaigns.toLocaleString('en'));
  const cell = (of: Sized, name: string, quantity: (measure: Measure) => number) => {
    if (!of.measures.has(name)) return '';
    const value = middle(of, name, quantity);
    if (/search|page/.test(name)) return `${shown(value / middle(of, 'list', quantity), 2)} × list`;
    return of === first ? `${shown(value)} µs` : shown(value / middle(first, name, quantity), 2);
  };
  const perSize = (title: string, quantity: (measure: Measure) => number) =>
    table(
      [title, ...sizes],
      names.map((name) => [name, ...all.map((of) => cell(of, name, quantity))]),
    );
  const grown = ({ campaigns, measures }: Sized) =>
    campaigns + (measures.get('create') ?? []).reduce((sum, { requests }) => sum + requests, 0);
  const perServer: [string, (of: Sized) => number | undefined][] = [
    ['memory (RSS) at the end, MiB', ({ server }) => server.residentMiB()],
    ['heap that a campaign takes, bytes', ({ takes }) => takes.heap],
    ['texts of a campaign as they were sent, bytes', ({ takes }) => takes.texts],
  ];
  const failures = all.flatMap((of, i) =>
    names.flatMap((name) => failuresOf(`${name}, of ${sizes[i]}`, of.measures.get(name))),
  );
  return [
    'One request at a time. So many campaigns are in the workspace or, where the row says so, in the database around a small one.',
    `A ratio is to ${sizes[0]} campaigns; of searches and the deep page, to a list (page 1) of the same size. Creates come last: at the`,
    `end the workspace of ${sizes[0]} has ${grown(first).toLocaleString('en')}.`,
    '',
    perSize('from a request to its answer', (it) => it.median * 1000),
    perSize('CPU of server and database', (it) => it.cpu + it.databaseCpu),
    table(
      ['the server', ...sizes],
      perServer
        .map(([name, of]) => [name, ...all.map((it) => of(it))] as const)
        .filter(([, value]) => value !== undefined)
        .map(([name, ...values]) => [name, ...values.map((value) => shown(value as number))]),
    ),
    ...failures,
  ].join('\n');
}
