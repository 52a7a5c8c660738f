import { createServer } from 'node:http';
import { MongoClient } from 'mongodb';
import {
  answerOf,
  answersOf,
  DRIVER,
  documentOf,
  filterOf,
  ONE,
  pageOptions,
  SHARE,
  SHARES,
  shareId,
  sharesOf,
} from './campaigns.js';

/**
 * What every other server is measured by: `node:http` and the driver, tuned by hand, which does nothing but answer. It
 * compares keys with those that it was given, and has no validation, no limiter and no log.
 */
const callers = new Map(
  Object.entries(JSON.parse(process.env.CALLERS)).map(([key, caller]) => [`Bearer ${key}`, caller]),
);
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER).connect()).db();
const campaigns = db.collection('campaigns');
const byCommands = process.env.READS === 'commands';

/** Reads with a cursor of the driver, as its guide tells; with `READS=commands` as the service does. */
async function find(name, filter, options) {
  if (!byCommands) return db.collection(name).find(filter, options).toArray();
  const { cursor } = await db.command({ find: name, filter, ...options }, DRIVER);
  return cursor.firstBatch;
}

async function findOne(name, filter, options) {
  if (!byCommands) return db.collection(name).findOne(filter, options);
  return (await find(name, filter, { ...options, limit: 1 }))[0];
}

async function list(caller, url) {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const options = pageOptions(Number(query.get('page') ?? 1));
  const page = await find('campaigns', filterOf(caller.workspaceId, query.get('search')), options);
  const some = await find('shares', sharesOf(caller, page), SHARES);
  return JSON.stringify(answersOf(page, some));
}

async function get({ workspaceId, memberId }, id) {
  const [campaign, share] = await Promise.all([
    findOne('campaigns', { workspaceId, _id: id }, ONE),
    findOne('shares', { workspaceId, _id: shareId(memberId, id) }, SHARE),
  ]);
  return campaign && JSON.stringify(answerOf(campaign, Boolean(share)));
}

async function create(caller, request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const document = documentOf(JSON.parse(Buffer.concat(chunks)), caller);
  await campaigns.insertOne(document);
  return JSON.stringify(answerOf(document, false));
}

function answer(request, caller) {
  const { method, url } = request;
  if (method === 'POST') return create(caller, request);
  return url.startsWith('/campaigns/') ? get(caller, url.slice('/campaigns/'.length)) : list(caller, url);
}

createServer(async (request, response) => {
  const caller = callers.get(request.headers.authorization);
  const body = caller && (await answer(request, caller));
  const status = !caller ? 401 : !body ? 404 : request.method === 'POST' ? 201 : 200;
  const text = body || '{}';
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text)]).end(text);
}).listen(Number(process.env.PORT), '127.0.0.1');
