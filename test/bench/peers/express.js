import express from 'express';
import { z } from 'zod';
import { Callers, Campaigns, connect } from './mongodb.js';

/** Express with the driver and zod, in plain code. */
const db = await connect();
const campaigns = new Campaigns(db);
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
  response.json(await campaigns.list(caller, page, search));
});

app.get('/campaigns/:id', async ({ caller, params: { id } }, response) => {
  const campaign = await campaigns.get(caller, id);
  if (campaign) response.json(campaign);
  else response.status(404).json({ error: { code: 'not_found' } });
});

app.post('/campaigns', async ({ caller, body }, response) => {
  response.status(201).json(await campaigns.create(caller, newCampaign.parse(body)));
});

app.use((error, _request, response, next) => {
  if (error instanceof z.ZodError) response.status(422).json({ error: { code: 'unprocessable_entity' } });
  else next(error);
});

app.listen(Number(process.env.PORT), '127.0.0.1');
