import type { Sample } from './sample.ts';

/** Requests by which servers are compared: all connections go through them together, one after the other. */
export interface Row {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly key: string;
  readonly requests: readonly Request[];
  /** How many ask at the same time. */
  readonly connections: number;
  /** How many times as long as others it is asked for in a round: fewer requests take longer to tell of. */
  readonly lasts: number;
}

export interface Request {
  readonly path: string;
  /** What a POST sends, as JSON. */
  readonly body?: string;
}

/** What a server answers, without what Node adds to every answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const CONNECTIONS = 32;
/** More than there are connections, so that two of them hardly ever ask for the same at the same time. */
const PAGES = 80;
const DEEP_PAGE = 400;
const DEEP_PAGES = 20;
const NEW_CAMPAIGNS = 100;
/** What takes a database many times as long as the rest: of so many at once, none runs into its time limit. */
const HEAVY = { connections: 4, lasts: 3 };

/** Names of one campaign in 840 each, so that a search finds less than a page and has to look through all. */
const RARE = [
  'long evenings at the fair',
  'quiet boots in oslo',
  'northern maps for families',
  'open workshops on the coast',
  'winter jackets in lisbon',
  'shared stories for beginners',
  'repaired teams this week',
  'green trails at the fair',
];

/** Campaigns are made in a workspace of their own, so that the lists stay as they are. */
export function rowsOf(read: Sample, written: Sample, ids: readonly string[]) {
  const list = listOf(read);
  const get: Row = { ...list, name: 'get', requests: ids.map((id) => ({ path: `/campaigns/${id}` })) };
  const create: Row = { ...list, name: 'create', method: 'POST', key: written.key, requests: newCampaigns };
  const search: Row = { ...list, ...HEAVY, name: 'search', requests: RARE.map(searchFor) };
  const deepPages = Array.from({ length: DEEP_PAGES }, (_, i) => pageRequest(DEEP_PAGE - i));
  const deep: Row = { ...list, ...HEAVY, name: `page ${DEEP_PAGE}`, requests: deepPages };
  return { list, get, create, search, deep };
}

function listOf({ key }: Sample): Row {
  const requests = Array.from({ length: PAGES }, (_, i) => pageRequest(i + 1));
  return { name: 'list', method: 'GET', key, requests, connections: CONNECTIONS, lasts: 1 };
}

function pageRequest(page: number): Request {
  return { path: `/campaigns?page=${page}` };
}

export function searchFor(text: string): Request {
  return { path: `/campaigns?search=${encodeURIComponent(text)}` };
}

const newCampaigns: readonly Request[] = Array.from({ length: NEW_CAMPAIGNS }, (_, i) => ({
  path: '/campaigns',
  body: JSON.stringify({
    name: `Repair your jacket, part ${i + 1}`,
    description: 'We mend what others throw away: tell how long your favourite piece has been with you. '
      .repeat(3)
      .trim(),
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
  }),
}));

export async function ask(port: number, { method, key }: Row, { path, body }: Request): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: body ?? null,
  });
  const { connection: _, 'keep-alive': __, date: ___, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, body: await reply.text() };
}

/** The ids of the campaigns of all listed pages: the key's member has shared some of them. */
export async function listedCampaigns(port: number, sample: Sample): Promise<string[]> {
  const list = listOf(sample);
  const answers = await Promise.all(list.requests.map((request) => ask(port, list, request)));
  return answers.flatMap(({ body }) => (JSON.parse(body) as { id: string }[]).map(({ id }) => id));
}

/** The bytes of a request. */
export function bytesOf({ method, key }: Row, { path, body = '' }: Request): string {
  const framing = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${framing}\r\n${body}`;
}

const CHANGING = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** What must be the same of an answer whoever gives it: the status and the content, but for the id and the time of what is new. */
export function essence({ method }: Row, { status, body }: Answer): unknown {
  return [status, JSON.parse(method === 'POST' ? body.replaceAll(CHANGING, '…') : body)];
}
