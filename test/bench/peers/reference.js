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
const shares = db.collection('shares');

async function list(caller, url) {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const options = pageOptions(Number(query.get('page') ?? 1));
  const page = await campaigns.find(filterOf(caller.workspaceId, query.get('search')), options).toArray();
  const some = await shares.find(sharesOf(caller, page), SHARES).toArray();
  return JSON.stringify(answersOf(page, some));
}

async function get({ workspaceId, memberId }, id) {
  const [campaign, share] = await Promise.all([
    campaigns.findOne({ workspaceId, _id: id }, ONE),
    shares.findOne({ workspaceId, _id: shareId(memberId, id) }, SHARE),
  ]);
  return campaign && JSON.stringify(answerOf(campaign, share !== null));
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
