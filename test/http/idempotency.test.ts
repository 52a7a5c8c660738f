import assert from 'node:assert/strict';
import { LOCK_TTL_MS } from '../../core/limits.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { each } from '../support/each.ts';
import {
  assertError,
  assertInvalidFields,
  assertTransientError,
  comparablePartOf,
  UNKNOWN_ID,
} from '../support/expected-responses.ts';
import { holdNextTransaction } from '../support/hold-transaction.ts';
import { newValidCall, postOperations, readAllLists, successStatusOf } from '../support/operations.ts';
import { type Api, type ApiResponse, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createKey, createTenant, type Tenant } from '../support/tenants.ts';

const secretOperations = postOperations.filter(([, { lostSecretRemedy }]) => lostSecretRemedy);
const replayableOperations = postOperations.filter(([, { lostSecretRemedy }]) => !lostSecretRemedy);

/** Sends a POST with an idempotency key. */
type Post = (idempotencyKey: string, path: string, body: unknown, key?: string) => Promise<ApiResponse>;

interface Setup {
  readonly api: Api;
  readonly own: Tenant;
  readonly post: Post;
  /** Advances the clock. */
  readonly wait: (milliseconds: number) => void;
}

/**
 * Settings for tests that advance the clock of the storage. They use memory storage, because MongoDB has its own clock.
 */
const MEMORY_SETTINGS = { STORAGE: 'memory', DEMO_API_KEY };

function withSetup(test: (setup: Setup) => Promise<void>, settings = {}): Promise<void> {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const run = async (api: Api) => {
    const own = await createTenant(api, 'own');
    const post: Post = (idempotencyKey, path, body, key = own.key) =>
      api.call('POST', path, { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
    const wait = (milliseconds: number) => {
      now += milliseconds;
    };
    await test({ api, own, post, wait });
  };
  return withService(run, { settings, now: () => now });
}

/** Asserts that a response has a status and is not a replay. */
function assertFirst(response: ApiResponse, status = 201): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers.get('idempotency-replayed'), null);
}

/** Asserts that a response replays the first one and is marked as a replay. */
function assertReplay(response: ApiResponse, first: ApiResponse): void {
  assert.equal(response.headers.get('idempotency-replayed'), 'true', response.text);
  const { headers, ...others } = comparablePartOf(response);
  assert.deepEqual(
    { ...others, headers: headers.filter(([name]) => name !== 'idempotency-replayed') },
    comparablePartOf(first),
  );
}

const question = { question: 'What did you learn this week?' };

/** The fields of a campaign. */
const campaign = {
  ...createCampaignBody(),
  totalBudget: 1000,
  resources: [{ url: 'https://a.example', size: 1 }, 'https://b.example'],
};
/** The body of the first request. */
const text = JSON.stringify(campaign);
/** Bodies that are equal to `text` as JSON, in another notation. */
const sameBodies: Readonly<Record<string, string>> = {
  'fields in another order': JSON.stringify(Object.fromEntries(Object.entries(campaign).reverse())),
  'fields of a resource in another order': text.replace(
    '"url":"https://a.example","size":1',
    '"size":1,"url":"https://a.example"',
  ),
  'white space': JSON.stringify(campaign, null, 2),
  'another spelling of a number': text.replace('"totalBudget":1000', '"totalBudget":1.0e3'),
  'another spelling of a text': text.replace('"A campaign"', '"\\u0041 campaign"'),
  'a field given twice': text.replace('{', '{"name":"not this one",'),
};
/** Bodies that differ from `text` as JSON. */
const differentBodies: Readonly<Record<string, string>> = {
  'another text': text.replace('"A campaign"', '"a campaign"'),
  'a text with a space at the end': text.replace('"A campaign"', '"A campaign "'),
  'a text in place of a number': text.replace('"totalBudget":1000', '"totalBudget":"1000"'),
  'a field with its default value': text.replace('{', '{"tagIds":[],'),
  'a field with the value null': text.replace('{', '{"image":null,'),
  'another order of an array': JSON.stringify({ ...campaign, resources: campaign.resources.toReversed() }),
};

suite('a POST with an Idempotency-Key', {
  'runs once, and gets the first response again if it is repeated': () =>
    withSetup(async ({ api, own, post }) => {
      await each(replayableOperations, async (operation) => {
        const { path, body } = newValidCall(operation, own);
        const first = await post(operation.id, path, body);
        assertFirst(first, successStatusOf(operation));
        const stored = await readAllLists(api, own.key);
        for (let times = 0; times < 3; times++) assertReplay(await post(operation.id, path, body), first);
        assert.deepEqual(await readAllLists(api, own.key), stored);
      });
    }),

  'is rejected if it is repeated and its response had a secret, which is not stored': () =>
    withSetup(async ({ api, own, post }) => {
      await each(secretOperations, async (operation) => {
        const { path, body } = newValidCall(operation, own);
        const first = await post(operation.id, path, body);
        assertFirst(first);
        const stored = await readAllLists(api, own.key);
        const problem = new RegExp(`^already created as ${first.json.id}; ${operation.lostSecretRemedy}$`);
        for (let times = 0; times < 2; times++) assertError(await post(operation.id, path, body), 409, problem);
        const { json } = await post(operation.id, path, body);
        assert.equal(json.error.doc_url, '/docs/errors#conflict-already-created');
        assertInvalidFields(await post(operation.id, '/tags', { name: 'other' }), ['Idempotency-Key']);
        assert.deepEqual(await readAllLists(api, own.key), stored);
      });
    }),

  'is also replayed if the first response has status 200 instead of 201': () =>
    withSetup(async ({ own, post }) => {
      const body = { slug: own.names.domain, archived: true };
      const first = await post('key', '/domains', body);
      assertFirst(first, 200);
      assertReplay(await post('key', '/domains', body), first);
    }),

  'is replayed even if the created record has been deleted': () =>
    withSetup(async ({ api, own, post }) => {
      const first = await post('key', '/inspiration-questions', question);
      await api.call('DELETE', `/inspiration-questions/${first.json.id}`, { key: own.key });
      assertReplay(await post('key', '/inspiration-questions', question), first);
    }),

  'is replayed for equal JSON in another notation': () =>
    withSetup(async ({ post }) => {
      const first = await post('key', '/campaigns', text);
      assertFirst(first);
      await each(sameBodies, async (body) => assertReplay(await post('key', '/campaigns', body), first));
    }),

  'is rejected if the same key was used with another body or path': () =>
    withSetup(async ({ api, own, post }) => {
      const first = await post('key', '/campaigns', text);
      const stored = await readAllLists(api, own.key);
      const assertRejected = async (path: string, body: unknown) => {
        const response = await post('key', path, body);
        assertInvalidFields(response, ['Idempotency-Key']);
        assert.match(response.json.error.message, /another path or body, send a new key/);
      };
      await each(differentBodies, (body) => assertRejected('/campaigns', body));
      await each(postOperations, async (operation) => {
        const { path, body } = newValidCall(operation, own);
        if (path !== '/campaigns') await assertRejected(path, body);
      });
      assert.deepEqual(await readAllLists(api, own.key), stored);
      assertReplay(await post('key', '/campaigns', text), first);
    }),

  'is rejected if the same key was used with another ID in the path, and replayed for the same ID in another case':
    () =>
      withSetup(async ({ api, own, post }) => {
        const key = await createKey(api, own.workspaceId, { access: 'full', member: { role: 'member' } });
        const path = `/campaigns/${own.ids.campaigns}/shares`;
        const first = await post('key', path, undefined, key);
        const other = await post('other', '/campaigns', campaign);
        assertInvalidFields(await post('key', `/campaigns/${other.json.id}/shares`, undefined, key), [
          'Idempotency-Key',
        ]);
        assertReplay(
          await post('key', path.replace(own.ids.campaigns, own.ids.campaigns.toUpperCase()), undefined, key),
          first,
        );
      }),

  'is not a replay if the API key or the case of the idempotency key differs': () =>
    withSetup(async ({ api, own, post }) => {
      const other = await createTenant(api, 'other');
      const second = await createKey(api, own.workspaceId);
      assertFirst(await post('key', '/inspiration-questions', question));
      assertFirst(await post('key', '/inspiration-questions', question, second));
      assertFirst(await post('key', '/inspiration-questions', question, other.key));
      assertFirst(await post('KEY', '/inspiration-questions', question));
    }),

  'accepts an idempotency key of up to 255 visible ASCII characters': () =>
    withSetup(async ({ post }) => {
      const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
      await each(
        [visible, 'k'.repeat(255), 'k', '"', '/'].map((key) => [key, key] as const),
        async (key) => {
          const first = await post(key, '/inspiration-questions', question);
          assertFirst(first);
          assertReplay(await post(key, '/inspiration-questions', question), first);
        },
      );
      assertError(await post('k'.repeat(256), '/inspiration-questions', question), 400);
    }),

  'is served after an error, because errors are not replayed': () =>
    withSetup(async ({ api, own, post }) => {
      assertError(await post('key', '/tags', '{'), 400);
      assertInvalidFields(await post('key', '/tags', {}), ['name']);
      assertError(await post('key', '/tags', { name: own.names.tag }), 409);
      assertFirst(await post('key', '/tags', { name: 'another' }));

      assertInvalidFields(await post('second', '/campaigns', { ...campaign, tagIds: [UNKNOWN_ID] }), ['tagIds.0']);
      assertFirst(await post('second', '/campaigns', { ...campaign, tagIds: [own.ids.tags] }));

      const other = await createTenant(api, 'holder');
      const slug = other.names.domain;
      await api.app.domains.markVerified(other.workspaceId, other.ids.domains);
      for (let times = 0; times < 2; times++) assertError(await post('third', '/domains', { slug }), 409);
      await api.call('POST', '/domains', { key: other.key, body: { slug, archived: true } });
      assertFirst(await post('third', '/domains', { slug }));
    }),

  'is served after an unexpected error of the first request': () =>
    withSetup(async ({ api, own, post }) => {
      const fail = async () => Promise.reject(new Error('the disk is full'));
      await assert.rejects(api.app.runOnce(await createRunRequest(api, own, 'key'), fail), /disk is full/);
      assertFirst(await post('key', '/inspiration-questions', question));
    }),

  'creates one record for 100 concurrent requests': () =>
    withSetup(async ({ api, own, post }) => {
      const before = (await api.call('GET', '/inspiration-questions', { key: own.key })).json.length;
      const together = Array.from({ length: 100 }, () => post('key', '/inspiration-questions', question));
      const responses = await Promise.all(together);
      const served = responses.filter(({ status }) => status === 201);
      const originals = served.filter(({ headers }) => !headers.has('idempotency-replayed'));
      assert.equal(originals.length, 1);
      assert.equal(new Set(served.map((response) => response.text)).size, 1);
      for (const response of responses) if (response.status !== 201) assertTransientError(response, 409);
      const after = await api.call('GET', '/inspiration-questions', { key: own.key });
      assert.equal(after.json.length, before + 1);
      assertReplay(await post('key', '/inspiration-questions', question), originals[0] as ApiResponse);
    }),

  'is rejected while the first request runs, until the lock of the first request expires': () =>
    withSetup(async ({ api, own, post, wait }) => {
      const hanging = await startHangingRequest(api, own);
      const rejected = await post('key', '/inspiration-questions', question);
      assertTransientError(rejected, 409, /is in progress/);
      assert.equal(rejected.json.error.doc_url, '/docs/errors#conflict-idempotency-key-in-use');
      assertTransientError(await post('key', '/inspiration-questions', { question: 'Is another body refused?' }), 409);
      wait(LOCK_TTL_MS - 1);
      assertTransientError(await post('key', '/inspiration-questions', question), 409);
      wait(1);
      const second = await post('key', '/inspiration-questions', question);
      assertFirst(second);
      hanging.end();
      await assert.rejects(hanging.first, (error) => error instanceof CoreError && error.kind === 'conflict');
      assertReplay(await post('key', '/inspiration-questions', question), second);
      const { json } = await api.call('GET', '/inspiration-questions?search=late', { key: own.key });
      assert.deepEqual(json, [], 'the first request has stored nothing, because its lock had expired');
    }, MEMORY_SETTINGS),

  'is no longer rejected as in progress when the first request has ended': () =>
    withSetup(async ({ api, own, post }) => {
      const hanging = await startHangingRequest(api, own);
      assertTransientError(await post('key', '/inspiration-questions', question), 409);
      hanging.end();
      await hanging.first;
      // The first request had another body, so this request does not get its response.
      assertInvalidFields(await post('key', '/inspiration-questions', question), ['Idempotency-Key']);
    }),
});

suite('an Idempotency-Key on a PATCH or DELETE', {
  'has no effect': () =>
    withSetup(async ({ api, own }) => {
      const headers = { 'Idempotency-Key': 'key' };
      for (const name of ['one', 'two', 'one']) {
        const response = await api.call('PATCH', `/tags/${own.ids.tags}`, { key: own.key, headers, body: { name } });
        assertFirst(response, 200);
        assert.equal(response.json.name, name);
      }
      const path = `/content-pillars/${own.ids['content-pillars']}`;
      assertFirst(await api.call('DELETE', path, { key: own.key, headers }), 200);
      assertError(await api.call('DELETE', path, { key: own.key, headers }), 404);
    }),
});

/** Returns the first argument of `Application.runOnce` for a request that creates a question. */
async function createRunRequest({ app }: Api, { workspaceId, key }: Tenant, idempotencyKey: string) {
  const { keyId } = (await app.apiKeys.authenticate(key)).caller;
  return { workspaceId, keyId, idempotencyKey, fingerprint: 'of its body' };
}

/**
 * Starts a request that has the lock of its idempotency key. The transaction of the request begins after the call of
 * `end`.
 */
async function startHangingRequest(api: Api, own: Tenant) {
  const request = await createRunRequest(api, own, 'key');
  const { held, release } = holdNextTransaction(api.app);
  const first = api.app.runOnce(request, async (app) => {
    await app.inspirationQuestions.create(own.workspaceId, { question: 'Am I too late?' });
    return { status: 201, body: '{}' };
  });
  // Prevents an unhandled rejection, because the test awaits the promise later.
  first.catch(doNothing);
  await held;
  return { first, end: release };
}
