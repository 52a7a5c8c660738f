import assert from 'node:assert/strict';
import { CoreError } from '../../core/shared/core-error.ts';
import { each } from '../support/each.ts';
import { assertFaults, assertRefused, essence } from '../support/expected-responses.ts';
import { callOf, posts, successOf } from '../support/operations.ts';
import { type Answer, type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createKey, createTenant, everythingOf, NEVER, type Tenant } from '../support/tenants.ts';

const HOUR = 60 * 60 * 1000;

/** Posts with an idempotency key. */
type Post = (idempotencyKey: string, path: string, body: unknown, key?: string) => Promise<Answer>;

interface Scene {
  readonly api: Api;
  readonly own: Tenant;
  readonly post: Post;
  /** Moves the clock on. */
  readonly wait: (milliseconds: number) => void;
}

/** Only memory storage has the clock of the test. */
const ON_MEMORY = { STORAGE: 'memory', DEMO_API_KEY };

function scene(test: (scene: Scene) => Promise<void>, settings = {}): Promise<void> {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const play = async (api: Api) => {
    const own = await createTenant(api, 'own');
    const post: Post = (idempotencyKey, path, body, key = own.key) =>
      api.call('POST', path, { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
    const wait = (milliseconds: number) => {
      now += milliseconds;
    };
    await test({ api, own, post, wait });
  };
  return withService(play, { settings, now: () => now });
}

function assertFirst(answer: Answer, status = 201): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers.get('idempotency-replayed'), null);
}

/** The answer is the first one again, and says so. */
function assertReplay(answer: Answer, first: Answer): void {
  assert.equal(answer.headers.get('idempotency-replayed'), 'true', answer.text);
  const { headers, ...others } = essence(answer);
  assert.deepEqual({ ...others, headers: headers.filter(([name]) => name !== 'idempotency-replayed') }, essence(first));
}

const question = { question: 'What did you learn this week?' };

/** Bodies of the same campaign, and of others. */
const campaign = {
  ...campaignBody(),
  totalBudget: 1000,
  resources: [{ url: 'https://a.example', size: 1 }, 'https://b.example'],
};
const text = JSON.stringify(campaign);
const same: Readonly<Record<string, string>> = {
  'names in another order': JSON.stringify(Object.fromEntries(Object.entries(campaign).reverse())),
  'names of a resource in another order': text.replace(
    '"url":"https://a.example","size":1',
    '"size":1,"url":"https://a.example"',
  ),
  'white space': JSON.stringify(campaign, null, 2),
  'another spelling of a number': text.replace('"totalBudget":1000', '"totalBudget":1.0e3'),
  'another spelling of a text': text.replace('"A campaign"', '"\\u0041 campaign"'),
  'a name given twice': text.replace('{', '{"name":"not this one",'),
};
const different: Readonly<Record<string, string>> = {
  'another text': text.replace('"A campaign"', '"a campaign"'),
  'a text that is trimmed to the same': text.replace('"A campaign"', '"A campaign "'),
  'a text in place of a number': text.replace('"totalBudget":1000', '"totalBudget":"1000"'),
  'a default given': text.replace('{', '{"tagIds":[],'),
  'null given': text.replace('{', '{"image":null,'),
  'another order of an array': JSON.stringify({ ...campaign, resources: campaign.resources.toReversed() }),
};

suite('a POST with an Idempotency-Key', {
  'is done once: a repeat gets the first answer again': () =>
    scene(async ({ api, own, post }) => {
      await each(posts, async (operation) => {
        const { path, body } = callOf(operation, own);
        const first = await post('key', path, body);
        assertFirst(first, successOf(operation));
        const stored = await everythingOf(api, own.key);
        for (let times = 0; times < 3; times++) assertReplay(await post('key', path, body), first);
        assert.deepEqual(await everythingOf(api, own.key), stored);
      });
    }),

  'gets a 200 again too': () =>
    scene(async ({ own, post }) => {
      const body = { slug: own.names.domain, archived: true };
      const first = await post('key', '/domains', body);
      assertFirst(first, 200);
      assertReplay(await post('key', '/domains', body), first);
    }),

  'gets the first answer also when the record has changed since': () =>
    scene(async ({ api, own, post }) => {
      const first = await post('key', '/inspiration-questions', question);
      await api.call('DELETE', `/inspiration-questions/${first.json.id}`, { key: own.key });
      assertReplay(await post('key', '/inspiration-questions', question), first);
    }),

  'is repeated by the same JSON, however it is written': () =>
    scene(async ({ post }) => {
      const first = await post('key', '/campaigns', text);
      assertFirst(first);
      await each(same, async (body) => assertReplay(await post('key', '/campaigns', body), first));
    }),

  'is refused with another body': () =>
    scene(async ({ api, own, post }) => {
      const first = await post('key', '/campaigns', text);
      const stored = await everythingOf(api, own.key);
      await each(different, async (body) => assertFaults(await post('key', '/campaigns', body), ['Idempotency-Key']));
      assert.deepEqual(await everythingOf(api, own.key), stored);
      assertReplay(await post('key', '/campaigns', text), first);
    }),

  'has its key for itself: per API key, operation and spelling': () =>
    scene(async ({ api, own, post }) => {
      const other = await createTenant(api, 'other');
      const second = await createKey(api, own.workspaceId);
      assertFirst(await post('key', '/inspiration-questions', question));
      assertFirst(await post('key', '/inspiration-questions', question, second));
      assertFirst(await post('key', '/inspiration-questions', question, other.key));
      assertFirst(await post('key', '/tags', { name: 'name' }));
      assertFirst(await post('key', '/groups', { name: 'name' }));
      assertFirst(await post('KEY', '/inspiration-questions', question));
    }),

  'takes every visible character, 255 of them': () =>
    scene(async ({ post }) => {
      const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
      await each(
        [visible, 'k'.repeat(255), 'k', '"', '/'].map((key) => [key, key] as const),
        async (key) => {
          const first = await post(key, '/inspiration-questions', question);
          assertFirst(first);
          assertReplay(await post(key, '/inspiration-questions', question), first);
        },
      );
      assertRefused(await post('k'.repeat(256), '/inspiration-questions', question), 400);
    }),

  'keeps no refusal: what is mended is served': () =>
    scene(async ({ api, own, post }) => {
      assertRefused(await post('key', '/tags', '{'), 400);
      assertFaults(await post('key', '/tags', {}), ['name']);
      assertRefused(await post('key', '/tags', { name: own.names.tag }), 409);
      assertFirst(await post('key', '/tags', { name: 'another' }));

      assertFaults(await post('key', '/campaigns', { ...campaign, tagIds: [NEVER] }), ['tagIds.0']);
      assertFirst(await post('key', '/campaigns', { ...campaign, tagIds: [own.ids.tags] }));

      const holder = await createTenant(api, 'holder');
      const slug = holder.names.domain;
      await api.app.domains.verify(holder.workspaceId, holder.ids.domains);
      for (let times = 0; times < 2; times++) assertRefused(await post('key', '/domains', { slug }), 409);
      await api.call('POST', '/domains', { key: holder.key, body: { slug, archived: true } });
      assertFirst(await post('key', '/domains', { slug }));
    }),

  'keeps nothing of what failed inside': () =>
    scene(async ({ api, own, post }) => {
      const failing = async () => Promise.reject(new Error('the disk is full'));
      await assert.rejects(api.app.runOnce(await runs(api, own, 'key'), failing), /disk is full/);
      assertFirst(await post('key', '/inspiration-questions', question));
    }),

  'is kept for 24 hours after its first success': () =>
    scene(async ({ post, wait }) => {
      const first = await post('key', '/inspiration-questions', question);
      wait(23 * HOUR);
      assertReplay(await post('key', '/inspiration-questions', question), first);
      wait(HOUR - 1);
      assertReplay(await post('key', '/inspiration-questions', question), first);
      wait(1);
      const next = await post('key', '/inspiration-questions', { question: 'What is a new body now?' });
      assertFirst(next);
      assert.notEqual(next.json.id, first.json.id);
    }, ON_MEMORY),

  'is made once of 100 that come together': () =>
    scene(async ({ api, own, post }) => {
      const before = (await api.call('GET', '/inspiration-questions', { key: own.key })).json.length;
      const together = Array.from({ length: 100 }, () => post('key', '/inspiration-questions', question));
      const answers = await Promise.all(together);
      const served = answers.filter(({ status }) => status === 201);
      assert.equal(served.filter(({ headers }) => !headers.has('idempotency-replayed')).length, 1);
      assert.equal(new Set(served.map((answer) => answer.text)).size, 1);
      for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 409);
      const after = await api.call('GET', '/inspiration-questions', { key: own.key });
      assert.equal(after.json.length, before + 1);
      assertReplay(await post('key', '/inspiration-questions', question), served[0] as Answer);
    }),

  'is refused while the first one runs, for 30 seconds at most': () =>
    scene(async ({ api, own, post, wait }) => {
      const hanging = await hang(api, own);
      assertRefused(await post('key', '/inspiration-questions', question), 409, /being served/);
      assertRefused(await post('key', '/inspiration-questions', { question: 'Is another body refused?' }), 409);
      wait(30_000 - 1);
      assertRefused(await post('key', '/inspiration-questions', question), 409);
      wait(1);
      // One of the two takes over, and waits for the first to let go of the storage.
      const two = [1, 2].map(() => post('key', '/inspiration-questions', question));
      assertRefused(await Promise.race(two), 409);
      hanging.end();
      await assert.rejects(hanging.first, (error) => error instanceof CoreError && error.kind === 'conflict');
      const second = (await Promise.all(two)).find(({ status }) => status === 201) as Answer;
      assertFirst(second);
      assertReplay(await post('key', '/inspiration-questions', question), second);
      const { json } = await api.call('GET', '/inspiration-questions?search=late', { key: own.key });
      assert.deepEqual(json, [], 'the first one has stored nothing, for it was too late');
    }, ON_MEMORY),

  'is served again as soon as the first one has ended': () =>
    scene(async ({ api, own, post }) => {
      const hanging = await hang(api, own);
      assertRefused(await post('key', '/inspiration-questions', question), 409);
      hanging.end();
      await hanging.first;
      const { json } = await api.call('GET', '/inspiration-questions?search=late', { key: own.key });
      assert.equal(json.length, 1);
      assertFaults(await post('key', '/inspiration-questions', question), ['Idempotency-Key']);
    }),
});

suite('an Idempotency-Key on a PATCH or DELETE', {
  'does nothing': () =>
    scene(async ({ api, own }) => {
      const headers = { 'Idempotency-Key': 'key' };
      for (const name of ['one', 'two', 'one']) {
        const answer = await api.call('PATCH', `/tags/${own.ids.tags}`, { key: own.key, headers, body: { name } });
        assertFirst(answer, 200);
        assert.equal(answer.json.name, name);
      }
      const path = `/content-pillars/${own.ids['content-pillars']}`;
      assertFirst(await api.call('DELETE', path, { key: own.key, headers }), 200);
      assertRefused(await api.call('DELETE', path, { key: own.key, headers }), 404);
    }),
});

/** A request as the operation that creates questions runs it. */
async function runs({ app }: Api, { workspaceId, key }: Tenant, idempotencyKey: string) {
  const { keyId } = await app.apiKeys.authenticate(key);
  return { workspaceId, keyId, operationId: 'createInspirationQuestion', idempotencyKey, fingerprint: 'of its body' };
}

/** Starts a first request under the key `key` that makes a question and then hangs until it is told to end. */
async function hang(api: Api, own: Tenant) {
  const request = await runs(api, own, 'key');
  let end = () => {};
  const told = new Promise<void>((resolve) => {
    end = resolve;
  });
  let started = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const first = api.app.runOnce(request, async (app) => {
    await app.inspirationQuestions.create(own.workspaceId, { question: 'Am I too late?' });
    started();
    await told;
    return { status: 201, body: '{}' };
  });
  first.catch(() => 'the test looks at it later');
  await running;
  return { first, end };
}
