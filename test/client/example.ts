import assert from 'node:assert/strict';
import { AdvocacyClient, AdvocacyError } from '../../clients/typescript/client.ts';
import { collectAll } from '../support/collect-all.ts';

/** Calls operations of each resource of the service at BASE_URL with the client in clients/typescript. */
const { BASE_URL: baseUrl = 'http://127.0.0.1:3000', KEY = '' } = process.env;

const HINT = [
  'Start the service with a demo workspace (`npm start` in the project folder),',
  'then run `KEY=<its demo key> node dist/test/client/example.js`. Set BASE_URL if the service is not at http://127.0.0.1:3000.',
].join(' ');
const problem = await fetch(`${baseUrl}/domains`, { headers: { Authorization: `Bearer ${KEY}` } }).then(
  ({ ok, status }) => (ok ? undefined : `The service at ${baseUrl} responds with status ${status} to the key in KEY.`),
  () => `No service responds at ${baseUrl}.`,
);
if (KEY === '' || problem !== undefined) {
  process.stderr.write(`${KEY === '' ? 'KEY is not set.' : problem} ${HINT}\n`);
  process.exit(2);
}

let replayCount = 0;
const client = new AdvocacyClient({
  baseUrl,
  key: KEY,
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    if (response.headers.get('Idempotency-Replayed') === 'true') replayCount++;
    return response;
  },
});

const me = await client.request('GET', '/me');
assert.ok(me.member && me.key.access === 'full', 'the key belongs to a member and has full access');

const idempotencyKey = crypto.randomUUID();
const unique = crypto.randomUUID().slice(0, 8);
const query = { search: unique };

const tag = await client.request('POST', '/tags', { body: { name: `Example ${unique}` }, idempotencyKey });
assert.deepEqual(await client.request('POST', '/tags', { body: { name: `Example ${unique}` }, idempotencyKey }), tag);
assert.equal(replayCount, 1);
const tagPath = { id: tag.id };
const renamed = await client.request('PATCH', '/tags/{id}', { path: tagPath, body: { name: `Renamed ${unique}` } });
assert.deepEqual(renamed, { ...tag, name: `Renamed ${unique}` });
assert.deepEqual(await client.request('GET', '/tags/{id}', { path: tagPath }), renamed);
assert.deepEqual(await collectAll(client.list('/tags', { query })), [renamed]);

const group = await client.request('POST', '/groups', {
  body: { name: `Readers ${unique}`, description: 'People who read examples.' },
});
assert.equal(group.count, 0);
const groupPath = { id: group.id };
const members = await client.request('PATCH', '/groups/{id}', { path: groupPath, body: { name: `Members ${unique}` } });
assert.deepEqual(members, { ...group, name: `Members ${unique}` });
assert.deepEqual(await client.request('GET', '/groups/{id}', { path: groupPath }), members);
assert.deepEqual(await collectAll(client.list('/groups', { query })), [members]);

const member = await client.request('POST', '/members', {
  body: { name: 'Kim', email: `${unique}@example.com`, groups: [group.id] },
});
assert.equal(member.invitation, 'pending');
const memberPath = { id: member.id };
const renamedMember = await client.request('PATCH', '/members/{id}', { path: memberPath, body: { name: 'Kim Lee' } });
assert.deepEqual(await client.request('GET', '/members/{id}', { path: memberPath }), renamedMember);
assert.deepEqual(await collectAll(client.list('/members', { query })), [renamedMember]);

const key = await client.request('POST', '/keys', { body: { memberId: member.id } });
const newKey = await client.request('POST', '/keys/{id}/rotate', { path: { id: key.id }, body: {} });
const keyPath = { id: newKey.id };
const { key: secret, ...shownKey } = newKey;
assert.equal(secret.slice(-4), shownKey.lastFour);
assert.deepEqual(await client.request('GET', '/keys/{id}', { path: keyPath }), shownKey);
const keys = await collectAll(client.list('/keys', { query: { memberId: member.id } }));
assert.deepEqual(
  keys.map(({ id }) => id),
  [newKey.id, key.id],
);
assert.deepEqual(await client.request('DELETE', '/keys/{id}', { path: keyPath }), keyPath);

assert.deepEqual(await client.request('DELETE', '/members/{id}', { path: memberPath }), memberPath);
assert.deepEqual(await client.request('POST', '/me/accept'), me);

const domain = await client.request('POST', '/domains', { body: { slug: `${unique}.example.com` } });
assert.deepEqual(await collectAll(client.list('/domains', { query })), [domain]);
const domainPath = { id: domain.id };
const notFoundUrl = 'https://example.com/not-found';
const changedDomain = await client.request('PATCH', '/domains/{id}', { path: domainPath, body: { notFoundUrl } });
assert.equal(changedDomain.notFoundUrl, notFoundUrl);
assert.deepEqual(await client.request('GET', '/domains/{id}', { path: domainPath }), changedDomain);

const question = await client.request('POST', '/inspiration-questions', {
  body: { question: 'What did you learn last week?', icon: 'book', userType: 'all', groups: [group.id] },
});
const questionPath = { id: question.id };
assert.deepEqual(await client.request('GET', '/inspiration-questions/{id}', { path: questionPath }), question);
const questions = client.list('/inspiration-questions', { query: { groupIds: [group.id], pageSize: 10 } });
assert.deepEqual(await collectAll(questions), [question]);
const inactive = await client.request('PATCH', '/inspiration-questions/{id}', {
  path: questionPath,
  body: { isActive: false },
});
assert.equal(inactive.isActive, false);
const deleted = await client.request('DELETE', '/inspiration-questions/{id}', { path: questionPath });
assert.deepEqual(deleted, questionPath);

const newPillar = await client.request('POST', '/content-pillars', {
  body: { title: `Example ${unique}`, color: 'red' },
});
assert.equal(newPillar.authorId, me.member.id);
const pillarPath = { id: newPillar.id };
assert.deepEqual(await client.request('GET', '/content-pillars/{id}', { path: pillarPath }), newPillar);
const pillars = await collectAll(client.list('/content-pillars', { query: { sortBy: 'title', sortOrder: 'asc' } }));
assert.ok(pillars.some(({ id }) => id === newPillar.id));
const pillar = await client.request('PATCH', '/content-pillars/{id}', { path: pillarPath, body: { color: 'green' } });
assert.deepEqual([pillar.id, pillar.color], [newPillar.id, 'green']);

const draft = await client.request('POST', '/campaigns', {
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
});
const campaignPath = { id: draft.id };
const campaign = await client.request('PATCH', '/campaigns/{id}', {
  path: campaignPath,
  body: { status: 'published', targetShares: null },
});
assert.deepEqual(campaign, { ...draft, status: 'published' });
assert.deepEqual(await client.request('GET', '/campaigns/{id}', { path: campaignPath }), campaign);
const brief = await client.request('GET', '/campaigns/{id}/brief', { path: campaignPath });
assert.deepEqual(brief.tags, [renamed]);
assert.deepEqual([brief.shareRewardAmount, brief.clickRewardAmount], ['1.50', '0.05']);
const share = await client.request('POST', '/campaigns/{id}/shares', { path: campaignPath });
assert.deepEqual([share.campaignId, share.memberId, share.link], [draft.id, me.member.id, null]);
assert.deepEqual(await collectAll(client.list('/campaigns/{id}/shares', { path: campaignPath })), [share]);
const activeCampaigns = {
  tagIds: [tag.id],
  tagNames: [`renamed ${unique}`],
  filter: 'active',
  includeArchived: true,
} as const;
const campaigns = await collectAll(client.list('/campaigns', { query: activeCampaigns }));
assert.deepEqual(campaigns, [{ ...campaign, shares: 1, hasShared: true }]);

await client.request('DELETE', '/tags/{id}', { path: tagPath });
assert.deepEqual(await collectAll(client.list('/campaigns', { query: activeCampaigns })), []);

await client.request('DELETE', '/content-pillars/{id}', { path: pillarPath });

const rejection = await client.request('POST', '/tags', { body: { name: 'a,b' } }).catch((error: unknown) => error);
assert.ok(rejection instanceof AdvocacyError && rejection.code === 'unprocessable_entity', String(rejection));
assert.match(rejection.message, /^name: /);
process.stdout.write('The operations work as documented.\n');
