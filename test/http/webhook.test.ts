import assert from 'node:assert/strict';
import { EVENT_TYPES, type EventType } from '../../core/event/event.ts';
import { each } from '../support/each.ts';
import { assertConflict, assertError, assertInvalidFields, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import type { Api, ServiceOptions } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';
import { RECEIVER_SETTINGS, startReceiver, verify, type WebhookReceiver } from '../support/webhook-receiver.ts';

const URL_LENGTH = 2048;
const URL_A = 'https://hooks.example/a';
/** A URL at which nothing listens, so that each attempt fails. */
const DEAD_URL = 'http://127.0.0.1:9';

const STATE = { failingSince: null, lastStatus: null, lastProblem: '', nextAttemptAt: null };

/** Passes a new workspace, in a service that can send to receivers, and a receiver to a test. */
async function withReceiver(
  test: (receiver: WebhookReceiver, fixture: Fixture, api: Api) => Promise<void>,
  respond?: Parameters<typeof startReceiver>[0],
  options: ServiceOptions = {},
): Promise<void> {
  const receiver = await startReceiver(respond);
  try {
    await withFixture((fixture, api) => test(receiver, fixture, api), {
      ...options,
      settings: { ...RECEIVER_SETTINGS, METRICS_PORT: '0' },
    });
  } finally {
    await receiver.close();
  }
}

/** Returns the events of a workspace, as a webhook gets them. */
async function listEvents({ app }: Api, { workspaceId }: Fixture, ...types: EventType[]) {
  const { items } = await app.events.list(workspaceId, { after: 0, types, pageSize: 100 });
  return items.map(({ id, sequence, type, createdAt, data }) => ({ id, sequence, type, createdAt, data }));
}

/** Makes an event of the type `member.updated`. */
async function makeEvent({ call, admin }: Fixture, name: string): Promise<void> {
  jsonOf(await call('PATCH', `/members/${admin.id}`, { name }));
}

suite('POST /webhooks', {
  'creates a webhook after the newest event, and is the only response with its secret': () =>
    withFixture(async (fixture, api) => {
      const { call, list } = fixture;
      await makeEvent(fixture, 'Ada');
      const body = {
        url: ` ${URL_A} `,
        types: ['share.created', 'member.deleted', 'share.created'],
        label: ' Intranet ',
      };
      const { secret, ...webhook } = jsonOf(await call('POST', '/webhooks', body), 201);
      assert.equal(Buffer.from(/^whsec_(.*)$/.exec(secret)?.[1] ?? '', 'base64').length, 32);
      const { id, createdAt, after } = webhook;
      assert.ok(after > 0);
      assert.equal(after, (await listEvents(api, fixture)).at(-1)?.sequence);
      const fields = {
        id,
        label: 'Intranet',
        url: URL_A,
        types: ['share.created', 'member.deleted'],
        enabled: true,
        after,
      };
      assert.deepEqual(webhook, { ...fields, ...STATE, createdAt, updatedAt: createdAt });
      assert.deepEqual(jsonOf(await call('GET', `/webhooks/${id}`)), webhook);
      assert.deepEqual(await list('/webhooks'), [webhook]);
      const changed = await call('PATCH', `/webhooks/${id}`, { label: '' });
      for (const { text } of [changed, await call('DELETE', `/webhooks/${id}`)]) assert.ok(!text.includes('whsec'));
    }),

  'has all types and no label by default, and accepts each type': () =>
    withFixture(async ({ call }) => {
      const { types, label, after } = jsonOf(await call('POST', '/webhooks', { url: URL_A }), 201);
      assert.deepEqual([types, label, after], [[], '', 1]);
      const all = jsonOf(await call('POST', '/webhooks', { url: URL_A, types: EVENT_TYPES }), 201);
      assert.deepEqual(all.types, EVENT_TYPES);
    }),

  'accepts and rejects URLs, types and labels': () =>
    withFixture(async ({ call }) => {
      const long = `${URL_A}?${'a'.repeat(URL_LENGTH - URL_A.length - 1)}`;
      const valid = [{ url: long }, { url: 'https://EXAMPLE.com:8443/é?a=b' }, { url: 'https://8.8.8.8' }];
      for (const body of [...valid, { url: URL_A, label: 'x'.repeat(190) }, { url: URL_A, types: [] }])
        jsonOf(await call('POST', '/webhooks', body), 201);
      const urls = [
        ...[
          `${long}a`,
          `${URL_A}/${'é'.repeat(400)}`,
          `${URL_A}#`,
          `${URL_A}#a`,
          'https://user@hooks.example',
          'hooks.example',
        ],
        ...[
          'ftp://hooks.example',
          'http://hooks.example',
          'http://8.8.8.8',
          'https://',
          '',
          'https://127.0.0.1',
          'https://[::1]',
        ],
        ...[
          'https://2130706433',
          'https://0x7f.1',
          'https://[::ffff:10.0.0.1]',
          'https://169.254.169.254',
          'https://a\\b',
          null,
          5,
        ],
      ];
      for (const url of urls) assertInvalidFields(await call('POST', '/webhooks', { url }), ['url'], String(url));
      const bodies: readonly (readonly [body: object, paths: string[]])[] = [
        [{}, ['url']],
        [{ url: URL_A, types: ['webhook.test'] }, ['types.0']],
        [{ url: URL_A, types: ['share.created', 'a', 1] }, ['types.1', 'types.2']],
        [{ url: URL_A, types: 'share.created' }, ['types']],
        [{ url: URL_A, types: null, label: null }, ['types', 'label']],
        [{ url: URL_A, label: 'x'.repeat(191) }, ['label']],
        [{ url: URL_A, enabled: false, after: 1, secret: 'whsec_a' }, ['enabled', 'after', 'secret']],
      ];
      for (const [body, paths] of bodies)
        assertInvalidFields(await call('POST', '/webhooks', body), paths, JSON.stringify(body));
    }),

  'lets WEBHOOK_NETWORKS have http and private addresses': () =>
    withFixture(
      async ({ call }) => {
        for (const url of ['http://10.0.0.1', 'https://10.0.0.1', 'http://intranet', 'http://[::ffff:10.0.0.1]'])
          jsonOf(await call('POST', '/webhooks', { url }), 201);
        for (const url of ['http://11.0.0.1', 'http://8.8.8.8', 'https://192.168.0.1'])
          assertInvalidFields(await call('POST', '/webhooks', { url }), ['url'], url);
      },
      { settings: { WEBHOOK_NETWORKS: '10.0.0.0/8' } },
    ),

  'rejects the eleventh webhook, also of simultaneous requests': () =>
    withFixture(async ({ call, list }) => {
      const create = () => call('POST', '/webhooks', { url: URL_A });
      const responses = await Promise.all(Array.from({ length: 14 }, create));
      const rejected = responses.filter(({ status }) => status !== 201);
      assert.equal(rejected.length, 4);
      for (const response of rejected) {
        assertConflict(response);
        assert.equal(response.json.error.doc_url, '/docs/errors#conflict-too-many-webhooks');
      }
      const [webhook, ...others] = await list('/webhooks');
      assert.equal(others.length, 9);
      jsonOf(await call('DELETE', `/webhooks/${webhook.id}`));
      jsonOf(await create(), 201);
      assertConflict(await create());
    }),

  'stores no secret for a repeated request': () =>
    withFixture(async ({ key, list }, { call }) => {
      const post = (url: string) =>
        call('POST', '/webhooks', { key, body: { url }, headers: { 'Idempotency-Key': 'once' } });
      const { id } = jsonOf(await post(URL_A), 201);
      const repeated = await post(URL_A);
      assertError(repeated, 409, new RegExp(`already created as ${id}; delete it and create another`));
      assertError(await post('https://hooks.example/b'), 422);
      assert.deepEqual(await list('/webhooks', 'id'), [id]);
    }),
});

suite('the permissions of webhooks', {
  'are those of admins and of keys without a member': () =>
    withFixture(async ({ call: callAsAdmin, workspaceId }, api) => {
      const { id } = jsonOf(await callAsAdmin('POST', '/webhooks', { url: URL_A }), 201);
      const readOnly = await createKey(api, workspaceId, { access: 'read' });
      const member = await createKey(api, workspaceId, { member: { role: 'member' } });
      const reads = [
        ['GET', '/webhooks'],
        ['GET', `/webhooks/${id}`],
      ] as const;
      const writes = [
        ['POST', '/webhooks'],
        ['PATCH', `/webhooks/${id}`],
        ['POST', `/webhooks/${id}/test`],
        ['DELETE', `/webhooks/${id}`],
      ] as const;
      for (const [method, path] of [...reads, ...writes])
        assertError(await api.call(method, path, { key: member }), 403);
      for (const [method, path] of reads) jsonOf(await api.call(method, path, { key: readOnly }));
      for (const [method, path] of writes) assertError(await api.call(method, path, { key: readOnly }), 403);
    }),
});

suite('PATCH /webhooks/{id}', {
  'updates the given fields, and nothing without a change': () =>
    withFixture(async (fixture, api) => {
      const { call } = fixture;
      const { secret: _, ...created } = jsonOf(await call('POST', '/webhooks', { url: URL_A }), 201);
      const path = `/webhooks/${created.id}`;
      const { url, types, label, enabled, after } = created;
      for (const body of [{}, { url, types, label, enabled, after }, { after: 99 }])
        assert.deepEqual(jsonOf(await call('PATCH', path, body)), created);
      const fields = { url: 'https://hooks.example/b', types: ['share.created'], label: 'a', enabled: false, after: 0 };
      const changed = jsonOf(await call('PATCH', path, fields));
      assert.deepEqual(changed, { ...created, ...fields, updatedAt: changed.updatedAt });
      assert.ok(changed.updatedAt >= created.updatedAt);
      assert.deepEqual(jsonOf(await call('GET', path)), changed);
      // Disabling a webhook is not an event.
      assert.deepEqual(await listEvents(api, fixture, 'webhook.disabled'), []);
    }),

  'rejects invalid fields, before it looks for the webhook': () =>
    withFixture(async ({ call }) => {
      const cases: Readonly<Record<string, readonly unknown[]>> = {
        url: [null, 'http://hooks.example', 'https://127.0.0.1', `${URL_A}#a`],
        types: [null, 'share.created'],
        label: [null, 'x'.repeat(191)],
        enabled: [null, 'true', 1],
        after: [null, -1, 1.5, '1', 2 ** 53],
        secret: ['whsec_a'],
      };
      await each(cases, async (values, field) => {
        for (const value of values)
          assertInvalidFields(
            await call('PATCH', `/webhooks/${UNKNOWN_ID}`, { [field]: value }),
            [field],
            String(value),
          );
      });
      for (const [method, path] of [
        ['PATCH', ''],
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/test'],
      ] as const)
        assertError(await call(method, `/webhooks/${UNKNOWN_ID}${path}`, method === 'PATCH' ? {} : undefined), 404);
    }),

  'moves a webhook to the newest event, or repeats events at once': () =>
    withReceiver(async ({ url, requests }, fixture) => {
      const { call } = fixture;
      const { id, secret, after } = jsonOf(await call('POST', '/webhooks', { url, types: ['member.updated'] }), 201);
      for (const name of ['a', 'b']) await makeEvent(fixture, name);
      await waitUntil(() => requests.length === 2);
      const received = () => requests.map((request) => verify(secret, request).sequence);
      await waitUntil(async () => jsonOf(await call('GET', `/webhooks/${id}`)).after === after + 2);
      assert.equal(jsonOf(await call('PATCH', `/webhooks/${id}`, { after: after + 1 })).after, after + 1);
      await waitUntil(() => requests.length === 3);
      assert.deepEqual(received(), [after + 1, after + 2, after + 2]);
      assert.equal(jsonOf(await call('PATCH', `/webhooks/${id}`, { after: 2 ** 53 - 1 })).after, after + 2);
    }),
});

suite('a webhook', {
  'gets the events of its types in order, and skips others': () =>
    withReceiver(async ({ url, requests }, fixture, api) => {
      const { call, admin, create } = fixture;
      const { id, secret } = jsonOf(await call('POST', '/webhooks', { url, types: ['member.updated'] }), 201);
      for (const name of ['a', 'b', 'c']) {
        await create('/members');
        await makeEvent(fixture, name);
      }
      await create('/members');
      await waitUntil(() => requests.length === 3);
      const events = requests.map((request) => verify(secret, request));
      assert.deepEqual(events, await listEvents(api, fixture, 'member.updated'));
      for (const { data } of events) assert.deepEqual(data, { memberId: admin.id });
      const newest = (await listEvents(api, fixture)).at(-1)?.sequence;
      await waitUntil(async () => jsonOf(await call('GET', `/webhooks/${id}`)).after === newest);
      const { lastStatus, lastProblem } = jsonOf(await call('GET', `/webhooks/${id}`));
      assert.deepEqual([lastStatus, lastProblem], [204, '']);
    }),

  'that fails is tried again at once when its URL changes, and then gets all events': () =>
    withReceiver(async ({ url, requests }, fixture) => {
      const { call } = fixture;
      const { id, after } = jsonOf(await call('POST', '/webhooks', { url: DEAD_URL }), 201);
      const path = `/webhooks/${id}`;
      await makeEvent(fixture, 'a');
      await makeEvent(fixture, 'b');
      await waitUntil(async () => jsonOf(await call('GET', path)).failingSince !== null);
      const { failingSince, nextAttemptAt, lastStatus, lastProblem, enabled, ...failing } = jsonOf(
        await call('GET', path),
      );
      assert.deepEqual([enabled, lastStatus, lastProblem, failing.after], [true, null, 'connection refused', after]);
      const waitMs = Date.parse(nextAttemptAt) - Date.parse(failingSince);
      assert.ok(waitMs >= 4_000 && waitMs <= 6_000, `${waitMs} ms`);
      const changed = jsonOf(await call('PATCH', path, { url }));
      assert.deepEqual([changed.failingSince, changed.nextAttemptAt], [null, null]);
      await waitUntil(() => requests.length === 2);
      await waitUntil(async () => jsonOf(await call('GET', path)).after === after + 2);
    }),

  'that gets the status 410 is disabled, which is an event, a warning and a metric': () => {
    const log: string[] = [];
    return withReceiver(
      async ({ url, requests }, fixture, { metricsUrl = '' }) => {
        const { call } = fixture;
        const { id, secret } = jsonOf(await call('POST', '/webhooks', { url: `${url}/gone` }), 201);
        const other = jsonOf(await call('POST', '/webhooks', { url, types: ['webhook.disabled'] }), 201);
        await makeEvent(fixture, 'a');
        await waitUntil(() => requests.some(({ path }) => path === '/hook'));
        const disabled = requests.find(({ path }) => path === '/hook');
        assert.deepEqual(disabled && verify(other.secret, disabled).data, { webhookId: id });
        const { enabled, lastStatus, nextAttemptAt } = jsonOf(await call('GET', `/webhooks/${id}`));
        assert.deepEqual([enabled, lastStatus, nextAttemptAt], [false, 410, null]);
        assert.equal(requests.filter(({ path }) => path !== '/hook').length, 1);
        await waitUntil(async () => jsonOf(await call('GET', `/webhooks/${other.id}`)).lastStatus === 204);
        const warnings = log.filter((line) => line.includes('"level":40'));
        assert.match(
          warnings.join('').trimEnd(),
          new RegExp(`^[^\n]*"webhookId":"${id}"[^\n]*webhook disabled[^\n]*$`),
        );
        for (const text of [secret, other.secret, url]) assert.ok(!log.join().includes(text), text);
        const metrics = await (await fetch(metricsUrl)).text();
        const values = ['disabled_total', 'failures_total{problem="status"}', 'deliveries_total', 'lag_seconds_count'];
        for (const value of values) assert.ok(metrics.includes(`\nwebhook_${value} 1\n`), value);
      },
      ({ path }, _message, response) => response.writeHead(path === '/hook' ? 204 : 410).end(),
      { log: { write: (line) => log.push(line) } },
    );
  },
});

suite('POST /webhooks/{id}/test', {
  'sends a test at once, also to a disabled webhook, and changes nothing': () =>
    withReceiver(
      async ({ url, requests }, { call, create }) => {
        const { secret, ...created } = jsonOf(await call('POST', '/webhooks', { url }), 201);
        const path = `/webhooks/${created.id}`;
        const disabled = jsonOf(await call('PATCH', path, { enabled: false }));
        await create('/members');
        const { durationMs, ...outcome } = jsonOf(await call('POST', `${path}/test`));
        assert.deepEqual(outcome, { delivered: false, status: 404, problem: 'status' });
        assert.ok(durationMs >= 0);
        const [request] = requests;
        const { id, createdAt, ...event } = verify(secret, request as NonNullable<typeof request>);
        assert.deepEqual(event, { sequence: 0, type: 'webhook.test', data: {} });
        assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000, id);
        assert.deepEqual(jsonOf(await call('GET', path)), disabled);
        jsonOf(await call('PATCH', path, { url: DEAD_URL }));
        const refused = jsonOf(await call('POST', `${path}/test`));
        assert.deepEqual(
          { ...refused, durationMs: 0 },
          { delivered: false, status: null, problem: 'connection refused', durationMs: 0 },
        );
        jsonOf(await call('PATCH', path, { url: `${url}/ok` }));
        assert.equal(jsonOf(await call('POST', `${path}/test`)).delivered, true);
        assert.equal(requests.length, 2);
      },
      ({ path }, _message, response) => response.writeHead(path === '/hook' ? 404 : 200).end(),
    ),
});
