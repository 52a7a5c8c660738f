import { createServer } from 'node:http';
import { MongoClient } from 'mongodb';
import {
  CAMPAIGN_OPTIONS,
  createFilter,
  createPageOptions,
  createShareId,
  createSharesFilter,
  DRIVER_OPTIONS,
  ONE_SHARE_OPTIONS,
  SHARES_OF_PAGE_OPTIONS,
  toDocument,
  toResponse,
  toResponses,
} from './campaigns.js';

/**
 * The reference of the ratios on MongoDB: `node:http` and the driver, tuned by hand. It knows the keys in advance, and
 * has no validation, no rate limits and no log.
 */
const callers = new Map(
  Object.entries(JSON.parse(process.env.CALLERS)).map(([key, caller]) => [`Bearer ${key}`, caller]),
);
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER_OPTIONS).connect()).db();
const campaigns = db.collection('campaigns');
const shares = db.collection('shares');

async function list(caller, url) {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const options = createPageOptions(Number(query.get('page') ?? 1));
  const page = await campaigns.find(createFilter(caller.workspaceId, query.get('search')), options).toArray();
  const ownShares = await shares.find(createSharesFilter(caller, page), SHARES_OF_PAGE_OPTIONS).toArray();
  return JSON.stringify(toResponses(page, ownShares));
}

async function get({ workspaceId, memberId }, id) {
  const [campaign, share] = await Promise.all([
    campaigns.findOne({ workspaceId, _id: id }, CAMPAIGN_OPTIONS),
    shares.findOne({ workspaceId, _id: createShareId(memberId, id) }, ONE_SHARE_OPTIONS),
  ]);
  return campaign && JSON.stringify(toResponse(campaign, Boolean(share)));
}

async function create(caller, request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const document = toDocument(JSON.parse(Buffer.concat(chunks)), caller);
  await campaigns.insertOne(document);
  return JSON.stringify(toResponse(document, false));
}

function handle(request, caller) {
  const { method, url } = request;
  if (method === 'POST') return create(caller, request);
  return url.startsWith('/campaigns/') ? get(caller, url.slice('/campaigns/'.length)) : list(caller, url);
}

createServer(async (request, response) => {
  const caller = callers.get(request.headers.authorization);
  const body = caller && (await handle(request, caller));
  const status = !caller ? 401 : !body ? 404 : request.method === 'POST' ? 201 : 200;
  const text = body || '{}';
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text)]).end(text);
}).listen(Number(process.env.PORT), '127.0.0.1');
