import fastify from 'fastify';
import { Callers, Campaigns, connect } from './mongodb.js';

const text = { type: 'string', maxLength: 5000 };
const date = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' };
const amount = { type: ['string', 'number'] };
const status = { type: 'string', enum: ['draft', 'published', 'archived'] };

const newFields = {
  name: { type: 'string', minLength: 1, maxLength: 190 },
  description: text,
  shareContext: text,
  objective: text,
  status,
  destinationUrl: { type: 'string', maxLength: 2048, pattern: '^https?://' },
  startDate: date,
  endDate: date,
  shareRewardAmount: amount,
  clickRewardAmount: amount,
  maxRewardPerEmployee: amount,
  totalBudget: amount,
};

const newCampaign = {
  $id: 'NewCampaign',
  type: 'object',
  required: Object.keys(newFields),
  additionalProperties: false,
  properties: newFields,
};

const campaign = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    status: { type: 'string' },
    createdAt: { type: 'string' },
    description: { type: 'string' },
    destinationUrl: { type: ['string', 'null'] },
    clicks: { type: 'integer' },
    shares: { type: 'integer' },
    startDate: { type: 'string' },
    endDate: { type: 'string' },
    targetShares: { type: ['integer', 'null'] },
    hasShared: { type: 'boolean' },
  },
};

const listQuery = {
  $id: 'ListQuery',
  type: 'object',
  additionalProperties: false,
  properties: { page: { type: 'integer', minimum: 1, default: 1 }, search: { type: 'string', maxLength: 200 } },
};

/** Fastify with the driver. Compiled schemas validate bodies and queries, and serialize responses. */
const db = await connect();
const campaigns = new Campaigns(db);
const callers = new Callers(db);

const app = fastify({ logger: false, ajv: { customOptions: { allowUnionTypes: true } } });
app.decorateRequest('caller', null);
app.addHook('onRequest', async (request, reply) => {
  request.caller = await callers.find(request.headers.authorization);
  if (!request.caller) return reply.code(401).send({ error: { code: 'unauthorized' } });
});

const listSchema = { querystring: listQuery, response: { 200: { type: 'array', items: campaign } } };
app.get('/campaigns', { schema: listSchema }, ({ caller, query: { page, search } }) =>
  campaigns.list(caller, page, search),
);

app.get('/campaigns/:id', { schema: { response: { 200: campaign } } }, async ({ caller, params: { id } }, reply) => {
  const found = await campaigns.get(caller, id);
  return found ?? reply.code(404).send({ error: { code: 'not_found' } });
});

const createSchema = { body: newCampaign, response: { 201: campaign } };
app.post('/campaigns', { schema: createSchema }, ({ caller, body }, reply) => {
  reply.code(201);
  return campaigns.create(caller, body);
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
