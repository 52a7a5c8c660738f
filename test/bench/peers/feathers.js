import { NotAuthenticated } from '@feathersjs/errors';
import { feathers } from '@feathersjs/feathers';
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa';
import { MongoDBService } from '@feathersjs/mongodb';
import { Ajv, getValidator, hooks } from '@feathersjs/schema';
import { MongoClient } from 'mongodb';
import {
  answersOf,
  BY_ID,
  BY_TIME,
  Callers,
  DRIVER,
  documentOf,
  filterOf,
  NEWEST_FIRST,
  PAGE_SIZE,
  SHARES,
  SHOWN,
  sharesOf,
} from './campaigns.js';
import { listQuery, newCampaign } from './schemas.js';

/** Feathers on Koa, with its service for MongoDB; what is particular to campaigns is done by hooks. */
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER).connect()).db();
const shares = db.collection('shares');
const callers = new Callers(db);

async function authenticate({ params }) {
  params.caller = await callers.of(params.headers.authorization);
  if (!params.caller) throw new NotAuthenticated();
}

async function asPage({ params }) {
  const { page, search } = params.query;
  const [$skip, $limit] = [(page - 1) * PAGE_SIZE, PAGE_SIZE];
  params.query = { ...filterOf(params.caller.workspaceId, search), $select, $sort: NEWEST_FIRST, $skip, $limit };
  params.mongodb = { hint: BY_TIME };
}

async function ofWorkspace({ params }) {
  params.query = { workspaceId: params.caller.workspaceId, $select };
  params.mongodb = { hint: BY_ID };
}

async function complete(context) {
  context.data = documentOf(context.data, context.params.caller);
  context.params.query = { $select };
}

async function show(context) {
  const found = [context.result].flat();
  const { caller } = context.params;
  const isNew = context.method === 'create';
  const some = isNew ? [] : await shares.find(sharesOf(caller, found), SHARES).toArray();
  const shown = answersOf(found, some);
  context.result = Array.isArray(context.result) ? shown : shown[0];
}

const $select = Object.keys(SHOWN);
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
    find: [hooks.validateQuery(isListQuery), asPage],
    get: [ofWorkspace],
    create: [hooks.validateData(isNewCampaign), complete],
  },
  after: { all: [show] },
});
await app.listen(Number(process.env.PORT), '127.0.0.1');
