import { NotAuthenticated } from '@feathersjs/errors';
import { feathers } from '@feathersjs/feathers';
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa';
import { MongoDBService } from '@feathersjs/mongodb';
import { Ajv, getValidator, hooks } from '@feathersjs/schema';
import { MongoClient } from 'mongodb';
import {
  BY_ID,
  BY_TIME,
  Callers,
  createFilter,
  createSharesFilter,
  DRIVER_OPTIONS,
  NEWEST_FIRST,
  PAGE_SIZE,
  RESPONSE_FIELDS,
  SHARES_OF_PAGE_OPTIONS,
  toDocument,
  toResponses,
} from './campaigns.js';
import { listQuery, newCampaign } from './schemas.js';

/** Feathers on Koa, with its MongoDB service. Hooks do what is specific to campaigns. */
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER_OPTIONS).connect()).db();
const shares = db.collection('shares');
const callers = new Callers(db);

async function authenticate({ params }) {
  params.caller = await callers.find(params.headers.authorization);
  if (!params.caller) throw new NotAuthenticated();
}

async function preparePage({ params }) {
  const { page, search } = params.query;
  const [$skip, $limit] = [(page - 1) * PAGE_SIZE, PAGE_SIZE];
  params.query = { ...createFilter(params.caller.workspaceId, search), $select, $sort: NEWEST_FIRST, $skip, $limit };
  params.mongodb = { hint: BY_TIME };
}

async function restrictToWorkspace({ params }) {
  params.query = { workspaceId: params.caller.workspaceId, $select };
  params.mongodb = { hint: BY_ID };
}

async function completeDocument(context) {
  context.data = toDocument(context.data, context.params.caller);
  context.params.query = { $select };
}

async function formatResponse(context) {
  const found = [context.result].flat();
  const { caller } = context.params;
  const isNew = context.method === 'create';
  const ownShares = isNew ? [] : await shares.find(createSharesFilter(caller, found), SHARES_OF_PAGE_OPTIONS).toArray();
  const responses = toResponses(found, ownShares);
  context.result = Array.isArray(context.result) ? responses : responses[0];
}

const $select = Object.keys(RESPONSE_FIELDS);
const isNewCampaign = getValidator(newCampaign, new Ajv({ allowUnionTypes: true }));
const isListQuery = getValidator(listQuery, new Ajv({ coerceTypes: true, useDefaults: true }));

const app = koa(feathers());
app.use(errorHandler());
app.use(bodyParser());
app.configure(rest());
const service = new MongoDBService({
  Model: db.collection('campaigns'),
  id: '_id',
  disableObjectify: true,
  operators: ['$regex'],
});
app.use('campaigns', service, { methods: ['find', 'get', 'create'] });
app.service('campaigns').hooks({
  before: {
    all: [authenticate],
    find: [hooks.validateQuery(isListQuery), preparePage],
    get: [restrictToWorkspace],
    create: [hooks.validateData(isNewCampaign), completeDocument],
  },
  after: { all: [formatResponse] },
});
await app.listen(Number(process.env.PORT), '127.0.0.1');
