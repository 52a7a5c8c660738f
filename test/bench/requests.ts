import type { Sample } from './sample.ts';

/** A request by which servers are compared. */
export interface Row {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key: string;
  /** How many ask at the same time. */
  readonly connections: number;
}

/** What a server answers, without what Node adds to every answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const newCampaign = JSON.stringify({
  name: 'Repair your jacket',
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
});

/** A name of one campaign in 840, so that a search finds less than a page and has to look through all. */
const RARE = 'long evenings at the fair';

const CONNECTIONS = 32;
/** What takes a database many times as long as the rest: of so many at once, none runs into its time limit. */
const FEW_CONNECTIONS = 4;

/** Campaigns are made in a workspace of their own, so that the lists stay as they are. */
export function rowsOf(read: Sample, written: Sample, id: string): readonly Row[] {
  const list = listOf(read);
  return [
    list,
    { ...list, name: 'get', path: `/campaigns/${id}` },
    { ...list, name: 'create', method: 'POST', key: written.key },
    { ...list, name: 'search', path: `/campaigns?search=${encodeURIComponent(RARE)}`, connections: FEW_CONNECTIONS },
    { ...list, name: 'page 400', path: '/campaigns?page=400', connections: FEW_CONNECTIONS },
  ];
}

function listOf({ key }: Sample): Row {
  return { name: 'list', method: 'GET', path: '/campaigns', key, connections: CONNECTIONS };
}

export async function ask(port: number, { method, path, key }: Row): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: method === 'POST' ? newCampaign : null,
  });
  const { connection: _, 'keep-alive': __, date: ___, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, body: await reply.text() };
}

/** The id of a campaign of the first page that the key's member has shared. */
export async function sharedCampaign(port: number, sample: Sample): Promise<string> {
  const { body } = await ask(port, listOf(sample));
  const campaigns = JSON.parse(body) as { id: string; hasShared: boolean }[];
  return campaigns.find(({ hasShared }) => hasShared)?.id as string;
}

/** The bytes of a request. */
export function bytesOf({ method, path, key }: Row): string {
  const body = method === 'POST' ? newCampaign : '';
  const framing = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${framing}\r\n${body}`;
}

const CHANGING = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** What must be the same of an answer whoever gives it: the status and the content, but for the id and the time of what is new. */
export function essence({ method }: Row, { status, body }: Answer): unknown {
  return [status, JSON.parse(method === 'POST' ? body.replaceAll(CHANGING, '…') : body)];
}
