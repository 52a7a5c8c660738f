import fastify from 'fastify';
import { MongoClient } from 'mongodb';
import {
  CAMPAIGN_OPTIONS,
  Callers,
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
import { campaign, listQuery, newCampaign } from './schemas.js';

/** Fastify with the driver. Compiled schemas validate bodies and queries, and serialize responses. */
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER_OPTIONS).connect()).db();
const campaigns = db.collection('campaigns');
const shares = db.collection('shares');
const callers = new Callers(db);

const app = fastify({ logger: false, ajv: { customOptions: { allowUnionTypes: true } } });
app.decorateRequest('caller', null);
app.addHook('onRequest', async (request, reply) => {
  request.caller = await callers.find(request.headers.authorization);
  if (!request.caller) return reply.code(401).send({ error: { code: 'unauthorized' } });
});

const listSchema = { querystring: listQuery, response: { 200: { type: 'array', items: campaign } } };
app.get('/campaigns', { schema: listSchema }, async ({ caller, query: { page, search } }) => {
  const found = await campaigns.find(createFilter(caller.workspaceId, search), createPageOptions(page)).toArray();
  const ownShares = await shares.find(createSharesFilter(caller, found), SHARES_OF_PAGE_OPTIONS).toArray();
  return toResponses(found, ownShares);
});

app.get('/campaigns/:id', { schema: { response: { 200: campaign } } }, async ({ caller, params: { id } }, reply) => {
  const { workspaceId, memberId } = caller;
  const [found, share] = await Promise.all([
    campaigns.findOne({ workspaceId, _id: id }, CAMPAIGN_OPTIONS),
    shares.findOne({ workspaceId, _id: createShareId(memberId, id) }, ONE_SHARE_OPTIONS),
  ]);
  return found ? toResponse(found, share !== null) : reply.code(404).send({ error: { code: 'not_found' } });
});

const createSchema = { body: newCampaign, response: { 201: campaign } };
app.post('/campaigns', { schema: createSchema }, async ({ caller, body }, reply) => {
  const document = toDocument(body, caller);
  await campaigns.insertOne(document);
  reply.code(201);
  return toResponse(document, false);
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
