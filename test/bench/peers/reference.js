import { createServer } from 'node:http';
import { Campaigns, connect } from './mongodb.js';

/**
 * The reference of the ratios on MongoDB: `node:http` and the driver, tuned by hand. It knows the keys in advance, and
 * has no validation, no rate limits and no log.
 */
const callers = new Map(
  Object.entries(JSON.parse(process.env.CALLERS)).map(([key, caller]) => [`Bearer ${key}`, caller]),
);
const campaigns = new Campaigns(await connect());

async function create(caller, request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return campaigns.create(caller, JSON.parse(Buffer.concat(chunks)));
}

function handle(request, caller) {
  const { method, url } = request;
  if (method === 'POST') return create(caller, request);
  if (url.startsWith('/campaigns/')) return campaigns.get(caller, url.slice('/campaigns/'.length));
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  return campaigns.list(caller, Number(query.get('page') ?? 1), query.get('search'));
}

createServer(async (request, response) => {
  const caller = callers.get(request.headers.authorization);
  const body = caller && (await handle(request, caller));
  const status = !caller ? 401 : !body ? 404 : request.method === 'POST' ? 201 : 200;
  const text = JSON.stringify(body ?? {});
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text)]).end(text);
}).listen(Number(process.env.PORT), '127.0.0.1');
