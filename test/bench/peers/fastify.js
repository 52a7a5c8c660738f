import fastify from 'fastify';
import { MongoClient } from 'mongodb';
import {
  answerOf,
  answersOf,
  Callers,
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
import { campaign, listQuery, newCampaign } from './schemas.js';

/** Fastify with the driver: bodies and queries validated, and replies written, by compiled schemas. */
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER).connect()).db();
const campaigns = db.collection('campaigns');
const shares = db.collection('shares');
const callers = new Callers(db);

const app = fastify({ logger: false, ajv: { customOptions: { allowUnionTypes: true } } });
app.decorateRequest('caller', null);
app.addHook('onRequest', async (request, reply) => {
  request.caller = await callers.of(request.headers.authorization);
  if (!request.caller) return reply.code(401).send({ error: { code: 'unauthorized' } });
});

const listSchema = { querystring: listQuery, response: { 200: { type: 'array', items: campaign } } };
app.get('/campaigns', { schema: listSchema }, async ({ caller, query: { page, search } }) => {
  const found = await campaigns.find(filterOf(caller.workspaceId, search), pageOptions(page)).toArray();
  const some = await shares.find(sharesOf(caller, found), SHARES).toArray();
  return answersOf(found, some);
});

app.get('/campaigns/:id', { schema: { response: { 200: campaign } } }, async ({ caller, params: { id } }, reply) => {
  const { workspaceId, memberId } = caller;
  const [found, share] = await Promise.all([
    campaigns.findOne({ workspaceId, _id: id }, ONE),
    shares.findOne({ workspaceId, _id: shareId(memberId, id) }, SHARE),
  ]);
  return found ? answerOf(found, share !== null) : reply.code(404).send({ error: { code: 'not_found' } });
});

const createSchema = { body: newCampaign, response: { 201: campaign } };
app.post('/campaigns', { schema: createSchema }, async ({ caller, body }, reply) => {
  const document = documentOf(body, caller);
  await campaigns.insertOne(document);
  reply.code(201);
  return answerOf(document, false);
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
