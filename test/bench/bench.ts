import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { apiKeySecret } from '../../core/access/api-key.ts';
import type { Done, Load } from './client.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const KEY = apiKeySecret('0123456789abcdefghijABCDEFGHIJ00');
const CAMPAIGNS = 1000;
const WARM_UP_MS = 700;
const NOT_AVAILABLE = 'not available';

const newCampaign = JSON.stringify({
  name: 'Repair your jacket',
  description: 'We mend what others throw away: tell how long your favourite piece has been with you. '.repeat(3),
  shareContext: 'Say in a sentence what it means to you.',
  objective: 'Reach',
  status: 'published',
  destinationUrl: 'https://northwind.example/repair-your-jacket',
  startDate: '2026-01-01',
  endDate: '2099-12-31',
  shareRewardAmount: '1.5',
  clickRewardAmount: 0.05,
  maxRewardPerEmployee: 50,
  totalBudget: 1000,
});

/** A request by which the servers are compared. */
interface Row {
  readonly name: 'list' | 'get' | 'create';
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** What a server answers, without what Node adds to every answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a server did in a round of a row. */
interface Measure extends Done {
  readonly cpuSeconds: number | undefined;
}

/** The measures of a row, those of one round at the same index. */
interface Measured {
  readonly row: Row;
  readonly ours: Measure[];
  readonly bare: Measure[];
}

/** Compares the service, with all that it does for a request, with a bare `node:http` server that gives the same bytes. */
async function main(rounds: number, milliseconds: number): Promise<void> {
  const ours = await start('../../bootstrap/main.js', { DEMO_API_KEY: KEY, RATE_LIMIT_POINTS: '1000000000' });
  const rows = await seed(ours);
  const answers = await answersOf(ours, rows);
  const bare = await start('bare-server.js', { ANSWERS: JSON.stringify(answers) });
  assert.deepEqual(essence(await answersOf(bare, rows)), essence(answers), 'both answer alike');

  const client = fork(join(import.meta.dirname, 'client.js'));
  for (const row of rows) for (const server of [ours, bare]) await measure(client, server, row, WARM_UP_MS);
  const measured: Measured[] = rows.map((row) => ({ row, ours: [], bare: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const { row, ...measures } of measured) {
      measures.ours.push(await measure(client, ours, row, milliseconds));
      measures.bare.push(await measure(client, bare, row, milliseconds));
    }
  }
  print(measured, { ours, bare });
  client.disconnect();
  await Promise.all([ours.stop(), bare.stop()]);
}

function start(script: string, environment: Readonly<Record<string, string>>): Promise<ServerProcess> {
  return startServer(join(import.meta.dirname, script), environment);
}

/** Makes the campaigns of which a page is listed and one is read. */
async function seed(ours: ServerProcess): Promise<Row[]> {
  const create: Row = { name: 'create', method: 'POST', path: '/campaigns' };
  for (let made = 0; made < CAMPAIGNS; made++) await ask(ours, create);
  const { id } = JSON.parse((await ask(ours, create)).body);
  return [
    { name: 'list', method: 'GET', path: '/campaigns' },
    { name: 'get', method: 'GET', path: `/campaigns/${id}` },
    create,
  ];
}

async function answersOf(server: ServerProcess, rows: readonly Row[]): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  for (const row of rows) answers[row.name] = await ask(server, row);
  return answers;
}

async function ask({ port }: ServerProcess, { method, path }: Row): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
    body: method === 'POST' ? newCampaign : null,
  });
  const { connection: _, 'keep-alive': __, date: ___, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, body: await reply.text() };
}

const CHANGING = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** What must be the same of the answers: the status, the names of the headers, and the body but for new ids and times. */
function essence(answers: Readonly<Record<string, Answer>>): unknown[] {
  return Object.entries(answers).map(([name, { status, headers, body }]) => [
    name,
    status,
    Object.keys(headers).sort(),
    name === 'create' ? body.replaceAll(CHANGING, '…') : body,
  ]);
}

async function measure(client: ChildProcess, server: ServerProcess, row: Row, milliseconds: number): Promise<Measure> {
  const load: Load = {
    port: server.port,
    request: bytesOf(row),
    status: row.method === 'POST' ? 201 : 200,
    milliseconds,
  };
  const before = server.cpuSeconds();
  client.send(load);
  const [done] = (await once(client, 'message')) as [Done];
  const after = server.cpuSeconds();
  return { ...done, cpuSeconds: before === undefined || after === undefined ? undefined : after - before };
}

function bytesOf({ method, path }: Row): string {
  const body = method === 'POST' ? newCampaign : '';
  const framing = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n${framing}\r\n${body}`;
}

function print(measured: readonly Measured[], servers: Readonly<Record<'ours' | 'bare', ServerProcess>>): void {
  console.log('|        |    requests/s | of bare | µs CPU/request | bare/ours | p99, ms |');
  console.log('|--------|---------------|---------|----------------|-----------|---------|');
  for (const { row, ours, bare } of measured) {
    const ratios = ours.map((of, round) => rateOf(of) / rateOf(bare[round] as Measure));
    const [cpu, bareCpu] = [microsecondsOf(ours), microsecondsOf(bare)];
    const cells = [
      row.name.padEnd(6),
      `${median(ours.map(rateOf)).toFixed()} : ${median(bare.map(rateOf)).toFixed()}`.padStart(13),
      median(ratios).toFixed(2).padStart(7),
      (cpu && bareCpu ? `${cpu.toFixed()} : ${bareCpu.toFixed()}` : NOT_AVAILABLE).padStart(14),
      (cpu && bareCpu ? (bareCpu / cpu).toFixed(2) : '').padStart(9),
      median(ours.map(({ p99 }) => p99))
        .toFixed(1)
        .padStart(7),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  for (const [name, { startMs, residentMiB }] of Object.entries(servers)) {
    const memory = residentMiB()?.toFixed() ?? NOT_AVAILABLE;
    console.log(`${name}: first answer after ${startMs.toFixed()} ms; MiB resident at the end: ${memory}`);
  }
  console.log(`Node ${process.version} on ${cpus().length} × ${cpus()[0]?.model}; ours : bare, medians of rounds`);
}

const rateOf = ({ requests, seconds }: Measure) => requests / seconds;

/** Processor time of the server for each request, over all rounds: the system counts it in hundredths of a second. */
function microsecondsOf(measures: readonly Measure[]): number | undefined {
  const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
  const seconds = measures.map(({ cpuSeconds }) => cpuSeconds).filter((cpu) => cpu !== undefined);
  const requests = sum(measures.map((of) => of.requests));
  return seconds.length === measures.length ? (sum(seconds) * 1e6) / requests : undefined;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '1' } },
});
await main(Number(values.rounds), Number(values.seconds) * 1000);
