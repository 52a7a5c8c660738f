import express from 'express';
import { MongoClient } from 'mongodb';
import { z } from 'zod';
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

/** Express with the driver and zod, in plain code. */
const db = (await new MongoClient(process.env.MONGODB_URI, DRIVER_OPTIONS).connect()).db();
const campaigns = db.collection('campaigns');
const shares = db.collection('shares');
const callers = new Callers(db);

const listQuery = z.strictObject({
  page: z.coerce.number().int().min(1).default(1),
  search: z.string().max(200).optional(),
});
const text = z.string().max(5000);
const amount = z.union([z.string(), z.number()]);
const newCampaign = z.strictObject({
  name: z.string().min(1).max(190),
  description: text,
  shareContext: text,
  objective: text,
  status: z.enum(['draft', 'published', 'archived']),
  destinationUrl: z.url().max(2048),
  startDate: z.iso.date(),
  endDate: z.iso.date(),
  shareRewardAmount: amount,
  clickRewardAmount: amount,
  maxRewardPerEmployee: amount,
  totalBudget: amount,
});

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(express.json());
app.use(async (request, response, next) => {
  request.caller = await callers.find(request.headers.authorization);
  if (request.caller) next();
  else response.status(401).json({ error: { code: 'unauthorized' } });
});

app.get('/campaigns', async ({ caller, query }, response) => {
  const { page, search } = listQuery.parse(query);
  const found = await campaigns.find(createFilter(caller.workspaceId, search), createPageOptions(page)).toArray();
  const ownShares = await shares.find(createSharesFilter(caller, found), SHARES_OF_PAGE_OPTIONS).toArray();
  response.json(toResponses(found, ownShares));
});

app.get('/campaigns/:id', async ({ caller, params: { id } }, response) => {
  const { workspaceId, memberId } = caller;
  const [found, share] = await Promise.all([
    campaigns.findOne({ workspaceId, _id: id }, CAMPAIGN_OPTIONS),
    shares.findOne({ workspaceId, _id: createShareId(memberId, id) }, ONE_SHARE_OPTIONS),
  ]);
  if (found) response.json(toResponse(found, share !== null));
  else response.status(404).json({ error: { code: 'not_found' } });
});

app.post('/campaigns', async ({ caller, body }, response) => {
  const document = toDocument(newCampaign.parse(body), caller);
  await campaigns.insertOne(document);
  response.status(201).json(toResponse(document, false));
});

app.use((error, _request, response, next) => {
  if (error instanceof z.ZodError) response.status(422).json({ error: { code: 'unprocessable_entity' } });
  else next(error);
});

app.listen(Number(process.env.PORT), '127.0.0.1');
