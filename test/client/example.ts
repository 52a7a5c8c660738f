import assert from 'node:assert/strict';
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from './schema.js';

/** Calls every operation of the service at BASE_URL with the client that is generated from docs/openapi.json. */
const { BASE_URL: baseUrl = 'http://127.0.0.1:3000', KEY = '' } = process.env;

const HINT = [
  'Start the service with a demo workspace (`npm start` in the project folder),',
  'then run `KEY=<its demo key> npm run example`. Set BASE_URL if the service is not at http://127.0.0.1:3000.',
].join(' ');
const problem = await fetch(`${baseUrl}/domains`, { headers: { Authorization: `Bearer ${KEY}` } }).then(
  ({ ok, status }) => (ok ? undefined : `The service at ${baseUrl} responds with status ${status} to the key in KEY.`),
  () => `No service responds at ${baseUrl}.`,
);
if (KEY === '' || problem !== undefined) {
  process.stderr.write(`${KEY === '' ? 'KEY is not set.' : problem} ${HINT}\n`);
  process.exit(2);
}

const usedOperations = new Set<string>();
const recordOperation: Middleware = {
  onRequest({ request, schemaPath }) {
    usedOperations.add(`${request.method} ${schemaPath}`);
  },
};
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${KEY}` } });
api.use(recordOperation);

/** Returns the body of a successful response. For an error response, throws an error that contains the error object. */
function unwrap<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  assert.ok(data !== undefined, `${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

const me = unwrap(await api.GET('/me'));
assert.ok(me.member && me.key.access === 'full', 'the key belongs to a member and has full access');

const idempotent = { header: { 'Idempotency-Key': crypto.randomUUID() } };
const unique = crypto.randomUUID().slice(0, 8);

const tag = unwrap(await api.POST('/tags', { params: idempotent, body: { name: `Example ${unique}` } }));
const replayed = await api.POST('/tags', { params: idempotent, body: { name: `Example ${unique}` } });
assert.equal(replayed.response.headers.get('Idempotency-Replayed'), 'true');
assert.equal(unwrap(replayed).id, tag.id);
const renamed = unwrap(
  await api.PATCH('/tags/{id}', { params: { path: { id: tag.id } }, body: { name: `Renamed ${unique}` } }),
);
assert.deepEqual(renamed, { ...tag, name: `Renamed ${unique}` });
assert.deepEqual(unwrap(await api.GET('/tags/{id}', { params: { path: { id: tag.id } } })), renamed);
assert.deepEqual(unwrap(await api.GET('/tags', { params: { query: { search: unique } } })), [renamed]);

const group = unwrap(
  await api.POST('/groups', { body: { name: `Readers ${unique}`, description: 'People who read examples.' } }),
);
assert.equal(group.count, 0);
const groupPath = { path: { id: group.id } };
const members = unwrap(await api.PATCH('/groups/{id}', { params: groupPath, body: { name: `Members ${unique}` } }));
assert.deepEqual(members, { ...group, name: `Members ${unique}` });
assert.deepEqual(unwrap(await api.GET('/groups/{id}', { params: groupPath })), members);
assert.deepEqual(unwrap(await api.GET('/groups', { params: { query: { search: unique } } })), [members]);

const domain = unwrap(await api.POST('/domains', { body: { slug: `${unique}.example.com` } }));
assert.deepEqual(unwrap(await api.GET('/domains', { params: { query: { search: unique } } })), [domain]);

const domainPath = { path: { id: domain.id } };
const notFoundUrl = 'https://example.com/not-found';
const changedDomain = unwrap(await api.PATCH('/domains/{id}', { params: domainPath, body: { notFoundUrl } }));
assert.equal(changedDomain.notFoundUrl, notFoundUrl);
assert.deepEqual(unwrap(await api.GET('/domains/{id}', { params: domainPath })), changedDomain);

const question = unwrap(
  await api.POST('/inspiration-questions', {
    body: { question: 'What did you learn last week?', icon: 'book', userType: 'all', groups: [group.id] },
  }),
);
const { id: questionId } = question;
assert.deepEqual(
  unwrap(await api.GET('/inspiration-questions/{id}', { params: { path: { id: questionId } } })),
  question,
);
const questions = await api.GET('/inspiration-questions', {
  params: { query: { groupIds: [group.id], pageSize: 10 } },
});
assert.deepEqual(unwrap(questions), [question]);
const inactive = unwrap(
  await api.PATCH('/inspiration-questions/{id}', { params: { path: { id: questionId } }, body: { isActive: false } }),
);
assert.equal(inactive.isActive, false);
const deleted = unwrap(await api.DELETE('/inspiration-questions/{id}', { params: { path: { id: questionId } } }));
assert.deepEqual(deleted, { id: questionId });

const newPillar = unwrap(await api.POST('/content-pillars', { body: { title: `Example ${unique}`, color: 'red' } }));
assert.equal(newPillar.authorId, me.member.id);
const newPillarPath = { path: { id: newPillar.id } };
assert.deepEqual(unwrap(await api.GET('/content-pillars/{id}', { params: newPillarPath })), newPillar);
const pillars = unwrap(await api.GET('/content-pillars', { params: { query: { sortBy: 'title', sortOrder: 'asc' } } }));
assert.ok(pillars.some(({ id }) => id === newPillar.id));
const pillar = unwrap(await api.PATCH('/content-pillars/{id}', { params: newPillarPath, body: { color: 'green' } }));
assert.deepEqual([pillar.id, pillar.color], [newPillar.id, 'green']);

const draft = unwrap(
  await api.POST('/campaigns', {
    body: {
      name: `Example ${unique}`,
      description: '',
      shareContext: '',
      objective: '',
      status: 'draft',
      destinationUrl: 'https://example.com/product',
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
      resources: ['https://example.com/map.pdf', { url: 'https://example.com/video.mp4', type: 'video' }],
    },
  }),
);
const campaignPath = { path: { id: draft.id } };
const campaign = unwrap(
  await api.PATCH('/campaigns/{id}', { params: campaignPath, body: { status: 'published', targetShares: null } }),
);
assert.deepEqual(campaign, { ...draft, status: 'published' });
assert.deepEqual(unwrap(await api.GET('/campaigns/{id}', { params: campaignPath })), campaign);
const brief = unwrap(await api.GET('/campaigns/{id}/brief', { params: campaignPath }));
assert.deepEqual(brief.tags, [{ ...tag, name: `Renamed ${unique}` }]);
assert.deepEqual([brief.shareRewardAmount, brief.clickRewardAmount], ['1.50', '0.05']);
const share = unwrap(await api.POST('/campaigns/{id}/shares', { params: campaignPath }));
assert.deepEqual([share.campaignId, share.memberId, share.link], [draft.id, me.member.id, null]);
assert.deepEqual(unwrap(await api.GET('/campaigns/{id}/shares', { params: campaignPath })), [share]);
const query = { tagIds: [tag.id], tagNames: [`renamed ${unique}`], filter: 'active' as const, includeArchived: true };
const campaigns = unwrap(await api.GET('/campaigns', { params: { query } }));
assert.deepEqual(campaigns, [{ ...campaign, shares: 1, hasShared: true }]);

unwrap(await api.DELETE('/tags/{id}', { params: { path: { id: tag.id } } }));
assert.deepEqual(unwrap(await api.GET('/campaigns', { params: { query } })), []);

unwrap(await api.DELETE('/content-pillars/{id}', { params: newPillarPath }));

const rejected = await api.POST('/tags', { body: { name: 'a,b' } });
assert.equal(rejected.error?.error.code, 'unprocessable_entity');
assert.match(rejected.error.error.message, /^name: /);

const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as { paths: Record<string, object> };
const documentedOperations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);
assert.deepEqual([...usedOperations].sort(), documentedOperations.sort());
process.stdout.write(`${usedOperations.size} operations work as documented\n`);
