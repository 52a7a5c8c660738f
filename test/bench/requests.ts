import { randomUUID } from 'node:crypto';
import { campaignBody } from '../support/samples.ts';
import type { Sample } from './sample.ts';

/**
 * A type of request, such as `list`. It is a column in the tables of compare.ts, and a row in those of growth.ts. The
 * connections share its requests: each connection sends the next one.
 */
export interface RequestType {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** The API key, if the requests need one. */
  readonly key?: string;
  /** The expected status. By default, 201 for a POST and 200 for a GET. */
  readonly status?: number;
  readonly requests: readonly Request[];
  readonly connections: number;
  /**
   * How many times longer a round of this type takes. With fewer requests per second, a stable result needs more time.
   */
  readonly durationFactor: number;
  /** Requests to warm up with instead of these. */
  readonly warmUp?: RequestType;
}

export interface Request {
  readonly path: string;
  /** The JSON body of a POST. */
  readonly body?: string;
  /** Whether the request has an `Idempotency-Key`, a new one each time it is sent. */
  readonly hasIdempotencyKey?: boolean;
  readonly userAgent?: string;
}

export interface RecordedResponse {
  readonly status: number;
  readonly body: string;
}

/** Stands for a new ID in the text of a request. The client replaces it. */
export const NEW_ID = '{new id}';

const CONNECTION_COUNT = 32;
/** More pages than connections, so that two connections hardly ever send the same request at the same time. */
const PAGE_COUNT = 80;
const DEEP_PAGE = 400;
const DEEP_PAGE_COUNT = 20;
const NEW_CAMPAIGN_COUNT = 100;
/**
 * The load of requests that are expensive for the database. With few connections, no request exceeds its time limit.
 */
const HEAVY_LOAD = { connections: 4, durationFactor: 3 };

/**
 * Each text is in the name of one campaign out of 840. So a search finds less than a page, and without an index, it
 * must examine all campaigns.
 */
const RARE_TEXTS = [
  'long evenings at the fair',
  'quiet boots in oslo',
  'northern maps for families',
  'open workshops on the coast',
  'winter jackets in lisbon',
  'shared stories for beginners',
  'repaired teams this week',
  'green trails at the fair',
];

/**
 * Creates the types of requests. `create` uses the workspace `written`, so that the lists of the workspace `read` do
 * not change. `get` reads the campaigns with the given IDs.
 */
export function createRequestTypes(read: Sample, written: Sample, ids: readonly string[]) {
  const list = createListType(read);
  const get: RequestType = { ...list, name: 'get', requests: ids.map((id) => ({ path: `/campaigns/${id}` })) };
  const create: RequestType = { ...list, name: 'create', method: 'POST', key: written.key, requests: newCampaigns };
  const createOnce: RequestType = {
    ...create,
    name: 'idempotent create',
    requests: newCampaigns.map((request) => ({ ...request, hasIdempotencyKey: true })),
  };
  const search: RequestType = { ...list, ...HEAVY_LOAD, name: 'search', requests: RARE_TEXTS.map(createSearchRequest) };
  const deepPages = Array.from({ length: DEEP_PAGE_COUNT }, (_, i) => createPageRequest(DEEP_PAGE - i));
  const deep: RequestType = { ...list, ...HEAVY_LOAD, name: 'deep page', requests: deepPages };
  return { list, get, create, createOnce, search, deep };
}

function createListType({ key }: Sample): RequestType {
  const requests = Array.from({ length: PAGE_COUNT }, (_, i) => createPageRequest(i + 1));
  return { name: 'list', method: 'GET', key, requests, connections: CONNECTION_COUNT, durationFactor: 1 };
}

function createPageRequest(page: number): Request {
  return { path: `/campaigns?page=${page}` };
}

export function createSearchRequest(text: string): Request {
  return { path: `/campaigns?search=${encodeURIComponent(text)}` };
}

const newCampaigns: readonly Request[] = Array.from({ length: NEW_CAMPAIGN_COUNT }, (_, i) => ({
  path: '/campaigns',
  body: JSON.stringify({
    ...campaignBody,
    name: `Repair your jacket, part ${i + 1}`,
    description: 'We repair what others throw away. Say how long your favorite jacket has been yours. '
      .repeat(3)
      .trim(),
    shareContext: 'Say in a sentence what it means to you.',
    objective: 'Reach',
    destinationUrl: 'https://northwind.example/repair-your-jacket',
    endDate: '2099-12-31',
    clickRewardAmount: 0.05,
    maxRewardPerEmployee: 50,
    totalBudget: 1000,
  }),
}));

export async function sendRequest(
  port: number,
  { method, key }: RequestType,
  { path, body, hasIdempotencyKey }: Request,
): Promise<RecordedResponse> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      ...(hasIdempotencyKey && { 'Idempotency-Key': randomUUID() }),
    },
    body: body ?? null,
  });
  return { status: response.status, body: await response.text() };
}

/**
 * Returns the IDs of the campaigns on all pages that `list` requests. Only some of them are shared by the member of the
 * key.
 */
export async function listCampaignIds(port: number, sample: Sample): Promise<string[]> {
  const list = createListType(sample);
  const responses = await Promise.all(list.requests.map((request) => sendRequest(port, list, request)));
  return responses.flatMap(({ body }) => (JSON.parse(body) as { id: string }[]).map(({ id }) => id));
}

/** Returns the text of an HTTP request. */
export function serializeRequest(
  { method, key }: RequestType,
  { path, body = '', hasIdempotencyKey, userAgent }: Request,
): string {
  const framing = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  const headers = [
    key && `Authorization: Bearer ${key}\r\n`,
    hasIdempotencyKey && `Idempotency-Key: ${NEW_ID}\r\n`,
    userAgent && `User-Agent: ${userAgent}\r\n`,
    framing,
  ]
    .filter(Boolean)
    .join('');
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;
}

const IDS_AND_TIMES = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/**
 * Returns what must be equal in the responses of all servers: status and content, without the ID and time of a new
 * record.
 */
export function comparableContentOf({ method }: RequestType, { status, body }: RecordedResponse): unknown {
  return [status, JSON.parse(method === 'POST' ? body.replaceAll(IDS_AND_TIMES, '…') : body)];
}
