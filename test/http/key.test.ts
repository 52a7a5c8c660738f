import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { isApiKeySecret } from '../../core/access/api-key.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { each } from '../support/each.ts';
import { assertConflict, assertError, assertInvalidFields, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

const HOUR_MS = 60 * 60_000;
const FAR_FUTURE = '2099-12-31T23:59:59.999Z';
/** The maximum time in which a key stops working in every process. */
const MAX_DELAY_MS = 5_000;

/** Waits until a key is rejected, and asserts that this takes at most five seconds. */
async function assertStopsWorking({ call }: Api, key: string): Promise<void> {
  const start = performance.now();
  for (;;) {
    // With several processes, each of them answers some of these requests.
    const responses = await Promise.all(Array.from({ length: 4 }, () => call('GET', '/tags', { key })));
    const elapsedMs = performance.now() - start;
    if (responses.every(({ status }) => status === 401)) return;
    assert.ok(elapsedMs < MAX_DELAY_MS, `the key still works after ${elapsedMs} ms`);
    await delay(200);
  }
}

/** Creates a key of the workspace that expires in an hour, and returns a function that sends requests with it. */
async function useExpiringKey({ workspaceId }: Fixture, api: Api) {
  const expiresAt = formatTimestamp(Date.now() + HOUR_MS);
  const key = await createKey(api, workspaceId, { expiresAt });
  const post = (path: string, body: object) => api.call('POST', path, { key, body });
  return { expiresAt, post };
}

suite('POST /keys', {
  'creates a key, and is the only response with its secret': () =>
    withFixture(async ({ call, admin, list }, api) => {
      const body = { label: ' Intranet ', memberId: admin.id, access: 'read', expiresAt: '2099-12-31' };
      const { key, ...record } = jsonOf(await call('POST', '/keys', body), 201);
      assert.ok(isApiKeySecret(key));
      const { id, createdAt } = record;
      assert.deepEqual(record, {
        ...{ id, label: 'Intranet', lastFour: key.slice(-4), memberId: admin.id, access: 'read', createdAt },
        ...{ expiresAt: FAR_FUTURE, revokedAt: null, lastUsedAt: null },
      });
      assert.deepEqual(jsonOf(await call('GET', `/keys/${id}`)), record);
      assert.deepEqual((await list('/keys'))[0], record);
      assert.equal(jsonOf(await api.call('GET', '/me', { key })).key.label, 'Intranet');
    }),

  'creates a key without a member, with full access, and without an end, by default': () =>
    withFixture(async ({ call }) => {
      for (const body of [{}, { memberId: null, expiresAt: null }]) {
        const { label, memberId, access, expiresAt } = jsonOf(await call('POST', '/keys', body), 201);
        assert.deepEqual([label, memberId, access, expiresAt], ['', null, 'full', null]);
      }
    }),

  'rejects an unknown member and a time that is not in the future together': () =>
    withFixture(async ({ call }) => {
      const body = { memberId: UNKNOWN_ID, expiresAt: formatTimestamp(Date.now() - 1000) };
      const response = await call('POST', '/keys', body);
      assertInvalidFields(response, ['memberId', 'expiresAt']);
      assert.match(
        response.json.error.message,
        /must be the ID of a member of this workspace; .*must be in the future$/,
      );
    }),

  'rejects a key that expires later than the key of the request': () =>
    withFixture(async (fixture, api) => {
      const { expiresAt, post } = await useExpiringKey(fixture, api);
      const later = formatTimestamp(Date.parse(expiresAt) + 1);
      for (const body of [{ expiresAt: later }, { expiresAt: null }, {}]) {
        assertInvalidFields(await post('/keys', body), ['expiresAt']);
      }
      assert.equal(jsonOf(await post('/keys', { expiresAt }), 201).expiresAt, expiresAt);
    }),

  'rejects the eleventh key of a member, without those that are deleted or rotated': () =>
    withFixture(async ({ call, admin }) => {
      const create = () => call('POST', '/keys', { memberId: admin.id });
      const { id } = jsonOf(await create(), 201);
      for (let i = 2; i < 10; i++) jsonOf(await create(), 201);
      const response = await create();
      assertConflict(response);
      assert.equal(response.json.error.doc_url, '/docs/errors#conflict-too-many-keys');
      const rotated = jsonOf(await call('POST', `/keys/${id}/rotate`, {}), 201);
      assertConflict(await create());
      jsonOf(await call('DELETE', `/keys/${rotated.id}`));
      jsonOf(await create(), 201);
      assertConflict(await create());
      jsonOf(await call('POST', '/keys', {}), 201);
    }),
});

suite('GET /keys', {
  'returns the keys that work, or all keys, also of one member': () =>
    withFixture(async ({ call, list, admin }) => {
      const create = async (body: object) => jsonOf(await call('POST', '/keys', body), 201).id;
      const [adminKey] = await list('/keys', 'id');
      const ada = await create({ memberId: admin.id });
      const [deleted, rotated] = [await create({}), await create({})];
      jsonOf(await call('DELETE', `/keys/${deleted}`));
      const { id: replacement } = jsonOf(await call('POST', `/keys/${rotated}/rotate`, {}), 201);
      const expired = await create({ expiresAt: formatTimestamp(Date.now() + 300) });
      await delay(301);
      const lists: Readonly<Record<string, string[]>> = {
        '': [replacement, rotated, ada, adminKey],
        '?includeEnded=true': [expired, replacement, rotated, deleted, ada, adminKey],
        [`?memberId=${admin.id}`]: [ada, adminKey],
        [`?memberId=${UNKNOWN_ID}&includeEnded=true`]: [],
      };
      await each(lists, async (expected, query) => assert.deepEqual(await list(`/keys${query}`, 'id'), expected));
    }),
});

suite('POST /keys/{id}/rotate', {
  'replaces a key by an equal one, and lets it work for 24 hours by default': () =>
    withFixture(async ({ call, admin }, api) => {
      const body = { label: 'Intranet', memberId: admin.id, access: 'read', expiresAt: FAR_FUTURE };
      const old = jsonOf(await call('POST', '/keys', body), 201);
      for (const [graceSeconds, expected] of [
        [undefined, 24 * HOUR_MS],
        [604_800, 168 * HOUR_MS],
      ] as const) {
        const { id, key: oldKey } = graceSeconds === undefined ? old : jsonOf(await call('POST', '/keys', body), 201);
        const now = Date.now();
        const created = jsonOf(await call('POST', `/keys/${id}/rotate`, { graceSeconds }), 201);
        const { label, memberId, access, expiresAt, key } = created;
        assert.deepEqual({ label, memberId, access, expiresAt }, body);
        assert.notEqual(key, oldKey);
        const rotated = jsonOf(await call('GET', `/keys/${id}`));
        assert.ok(Math.abs(Date.parse(rotated.expiresAt) - now - expected) < 5_000, rotated.expiresAt);
        for (const works of [key, oldKey]) assert.equal((await api.call('GET', '/tags', { key: works })).status, 200);
        assertConflict(await call('POST', `/keys/${id}/rotate`, {}));
      }
    }),

  'rejects a grace period that is not a number of seconds up to seven days': () =>
    withFixture(async ({ call, create }) => {
      const { id } = await create('/keys');
      for (const [graceSeconds, problem] of [
        [-1, 'must be at least 0'],
        [604_801, 'must be at most 604800'],
        [1.5, 'must be an integer'],
        ['60', 'must be a number'],
      ] as const) {
        const response = await call('POST', `/keys/${id}/rotate`, { graceSeconds });
        assert.equal(response.json.error.message, `graceSeconds: ${problem}`);
      }
    }),

  'rejects a key that is deleted': () =>
    withFixture(async ({ call, create }) => {
      const { id } = await create('/keys');
      jsonOf(await call('DELETE', `/keys/${id}`));
      const response = await call('POST', `/keys/${id}/rotate`, {});
      assertConflict(response);
      assert.equal(response.json.error.doc_url, '/docs/errors#conflict-key-ended');
    }),

  'rejects a key that expires later than the key of the request, but not the key of the request': () =>
    withFixture(async (fixture, api) => {
      const { expiresAt, post } = await useExpiringKey(fixture, api);
      for (const body of [{}, { expiresAt: formatTimestamp(Date.parse(expiresAt) + 1) }]) {
        const { id } = jsonOf(await fixture.call('POST', '/keys', body), 201);
        const response = await post(`/keys/${id}/rotate`, {});
        assertError(response, 403);
        assert.equal(response.json.error.doc_url, '/docs/errors#forbidden-key-outlives-yours');
      }
      const [{ id }] = (await fixture.list('/keys')).filter(
        (key: { expiresAt: string }) => key.expiresAt === expiresAt,
      );
      assert.equal(jsonOf(await post(`/keys/${id}/rotate`, {}), 201).expiresAt, expiresAt);
    }),

  'ends the rotated key within five seconds after the grace period': () =>
    withFixture(async ({ call }, api) => {
      await Promise.all(
        [0, 1].map(async (graceSeconds) => {
          const { id, key } = jsonOf(await call('POST', '/keys', {}), 201);
          assert.equal((await api.call('GET', '/tags', { key })).status, 200);
          const created = jsonOf(await call('POST', `/keys/${id}/rotate`, { graceSeconds }), 201);
          assert.equal(jsonOf(await call('GET', `/keys/${id}`)).revokedAt !== null, graceSeconds === 0);
          await delay(graceSeconds * 1_000);
          await assertStopsWorking(api, key);
          assert.equal((await api.call('GET', '/tags', { key: created.key })).status, 200);
        }),
      );
    }),
});

suite('DELETE /keys/{id}', {
  'revokes a key permanently within five seconds, also the key of the request, and can be repeated': () =>
    withFixture(async ({ call, workspaceId }, api) => {
      const key = await createKey(api, workspaceId);
      const { id } = jsonOf(await api.call('GET', '/me', { key })).key;
      assert.deepEqual(jsonOf(await api.call('DELETE', `/keys/${id}`, { key })), { id });
      const { revokedAt } = jsonOf(await call('GET', `/keys/${id}`));
      assert.ok(Math.abs(Date.parse(revokedAt) - Date.now()) < 5_000);
      await delay(2);
      assert.deepEqual(jsonOf(await call('DELETE', `/keys/${id}`)), { id });
      assert.equal(jsonOf(await call('GET', `/keys/${id}`)).revokedAt, revokedAt);
      await assertStopsWorking(api, key);
    }),
});
