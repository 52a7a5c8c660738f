import assert from 'node:assert/strict';
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from './schema.js';

/** Uses every operation of the service at BASE_URL, with nothing but what the document says of them. */
const { BASE_URL: baseUrl = 'http://127.0.0.1:3000', KEY = '' } = process.env;

const HINT = [
  'Start the service with a demo workspace (`npm start` in the folder of the project),',
  'then run `KEY=<its demo key> npm run walk`, with BASE_URL=<its address> if that is not http://127.0.0.1:3000.',
].join(' ');
const problem = await fetch(`${baseUrl}/domains`, { headers: { Authorization: `Bearer ${KEY}` } }).then(
  ({ ok, status }) => (ok ? undefined : `The service at ${baseUrl} answers ${status} to the key in KEY.`),
  () => `There is no service at ${baseUrl}.`,
);
if (KEY === '' || problem !== undefined) {
  process.stderr.write(`${KEY === '' ? 'KEY is not set.' : problem} ${HINT}\n`);
  process.exit(2);
}

const used = new Set<string>();
const note: Middleware = {
  onRequest({ request, schemaPath }) {
    used.add(`${request.method} ${schemaPath}`);
  },
};
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${KEY}` } });
api.use(note);

/** What was answered; fails with the error object. */
function got<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  assert.ok(data !== undefined, `${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

const once = { header: { 'Idempotency-Key': crypto.randomUUID() } };
const unique = crypto.randomUUID().slice(0, 8);

const tag = got(await api.POST('/tags', { params: once, body: { name: `Walk ${unique}` } }));
const again = await api.POST('/tags', { params: once, body: { name: `Walk ${unique}` } });
assert.equal(again.response.headers.get('Idempotency-Replayed'), 'true');
assert.equal(got(again).id, tag.id);
const renamed = got(
  await api.PATCH('/tags/{id}', { params: { path: { id: tag.id } }, body: { name: `Walked ${unique}` } }),
);
assert.deepEqual(renamed, { ...tag, name: `Walked ${unique}` });

const group = got(await api.POST('/groups', { body: { name: `Walkers ${unique}`, description: 'Who walks.' } }));
assert.equal(group.count, 0);

const domain = got(await api.POST('/domains', { body: { slug: `${unique}.example.com` } }));
assert.deepEqual(got(await api.GET('/domains', { params: { query: { search: unique } } })), [domain]);

const question = got(
  await api.POST('/inspiration-questions', {
    body: { question: 'Where did you walk last?', icon: 'world', userType: 'all', groups: [group.id] },
  }),
);
const { id: questionId } = question;
const questions = await api.GET('/inspiration-questions', {
  params: { query: { groupIds: [group.id], pageSize: 10 } },
});
assert.deepEqual(got(questions), [question]);
const inactive = got(
  await api.PATCH('/inspiration-questions/{id}', { params: { path: { id: questionId } }, body: { isActive: false } }),
);
assert.equal(inactive.isActive, false);
const gone = got(await api.DELETE('/inspiration-questions/{id}', { params: { path: { id: questionId } } }));
assert.deepEqual(gone, { id: questionId });

const pillars = got(await api.GET('/content-pillars', { params: { query: { sortBy: 'title', sortOrder: 'asc' } } }));
const [pillar, last] = [pillars[0], pillars.at(-1)];
assert.ok(pillar && last && pillar.id !== last.id, 'the demo has content pillars');
const green = { path: { id: pillar.id } };
assert.equal(got(await api.PATCH('/content-pillars/{id}', { params: green, body: { color: 'green' } })).color, 'green');
got(await api.DELETE('/content-pillars/{id}', { params: { path: { id: last.id } } }));

const campaign = got(
  await api.POST('/campaigns', {
    body: {
      name: `Walk ${unique}`,
      description: '',
      shareContext: '',
      objective: '',
      status: 'published',
      destinationUrl: 'https://example.com/walk',
      startDate: '2026-01-01',
      endDate: '2099-12-31T23:00:00+01:00',
      shareRewardAmount: '1.50',
      clickRewardAmount: 0.05,
      maxRewardPerEmployee: 50,
      totalBudget: 1000,
      domain: domain.slug,
      tagIds: [tag.id],
      groupIds: [group.id],
      contentPillarId: pillar.id,
      resources: ['https://example.com/map.pdf', { url: 'https://example.com/walk.mp4', type: 'video' }],
    },
  }),
);
assert.deepEqual(got(await api.GET('/campaigns/{id}', { params: { path: { id: campaign.id } } })), campaign);
const query = { tagIds: [tag.id], tagNames: [`walked ${unique}`], filter: 'active' as const, includeArchived: true };
const campaigns = got(await api.GET('/campaigns', { params: { query } }));
assert.deepEqual(campaigns, [campaign]);

const refused = await api.POST('/tags', { body: { name: 'a,b' } });
assert.equal(refused.error?.error.code, 'unprocessable_entity');
assert.match(refused.error.error.message, /^name: /);

const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { paths: Record<string, object> };
const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);
assert.deepEqual([...used].sort(), all.sort());
process.stdout.write(`${used.size} operations work as the document says\n`);
