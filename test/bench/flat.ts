import { startReplicaSet } from '../support/replica-set.ts';
import { type Client, failuresOf, type Measure, median } from './measure.ts';
import type { Options } from './options.ts';
import { shown, type Told, table } from './report.ts';
import { ask, type Row, rowsOf, sharedCampaign } from './requests.ts';
import { type Sample, seedDatabase } from './sample.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { oursInMemory, oursOn } from './servers.ts';
import { type Usage, usageOf } from './usage.ts';

const SMALL = 1_000;

/** This service over so many campaigns in one workspace, and 1,000 in another one. */
interface Sized {
  readonly campaigns: number;
  readonly server: ServerProcess;
  readonly rows: readonly Row[];
  readonly measures: Map<string, Measure[]>;
}

/** Measures this service on databases with more and more campaigns. Tells it in Markdown. */
export async function flatOnMongodb(client: Client, options: Options): Promise<Told> {
  const database = await startReplicaSet();
  try {
    const all: Sized[] = [];
    for (const campaigns of options.sizes) {
      const uri = database.uri.replace('/?', `/bench-${campaigns}?`);
      const samples = [await seedDatabase(uri, campaigns), await seedDatabase(uri, SMALL)] as const;
      all.push(await sized(campaigns, await startServer(oursOn(uri)), samples));
    }
    return await measureAll(all, usageOf((await database.primary()).pid), client, options);
  } finally {
    await database.stop();
  }
}

/** As `flatOnMongodb`, on memory storage. */
export async function flatInMemory(client: Client, options: Options): Promise<Told> {
  const all: Sized[] = [];
  for (const campaigns of options.sizes) {
    const server = await startServer(oursInMemory([campaigns, SMALL]));
    all.push(await sized(campaigns, server, (await server.told) as [Sample, Sample]));
  }
  return measureAll(all, undefined, client, options);
}

async function sized(
  campaigns: number,
  server: ServerProcess,
  [large, small]: readonly [Sample, Sample],
): Promise<Sized> {
  const inLarge = rowsOf(large, large, await sharedCampaign(server.port, large));
  const inSmall = rowsOf(small, small, await sharedCampaign(server.port, small)).slice(0, 3);
  const absent: Row = {
    ...(inLarge[0] as Row),
    name: 'search for what is not there',
    path: '/campaigns?search=glacier',
  };
  const often: Row = { ...(inLarge[0] as Row), name: 'search for one in ten', path: '/campaigns?search=tents' };
  const deep = inLarge[4] as Row;
  const isDeep = JSON.parse((await ask(server.port, deep)).body).length > 0;
  const others = inSmall.map((row) => ({ ...row, name: `${row.name}, in a workspace of ${SMALL}` }));
  // Creates come last: what they add would make lists of another kind of campaign.
  const rows = [...inLarge.slice(0, 2), ...others.slice(0, 2), often, absent, ...(isDeep ? [deep] : [])];
  const alone = [...rows, inLarge[2] as Row, others[2] as Row].map((row) => ({ ...row, connections: 1 }));
  return { campaigns, server, measures: new Map(), rows: alone };
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
    for (const { server, row } of pairs) if (row.method === 'GET') await client.warmUp(server, row);
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
  const failures = all.flatMap((of, i) =>
    names.flatMap((name) => failuresOf(`${name}, of ${sizes[i]}`, of.measures.get(name))),
  );
  return [
    'One request at a time. So many campaigns are in the workspace or, where the row says so, in the database around a small one.',
    `A ratio is to ${sizes[0]} campaigns; of searches and the deep page, to a list (page 1) of the same size.`,
    '',
    perSize('from a request to its answer', (it) => it.median * 1000),
    perSize('CPU of server and database', (it) => it.cpu + it.databaseCpu),
    ...failures,
  ].join('\n');
}
