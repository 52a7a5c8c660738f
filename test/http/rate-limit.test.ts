import assert from 'node:assert/strict';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { each, textCases } from '../support/each.ts';
import { assertError, UNKNOWN_ID } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw-requests.ts';
import { type Api, type ApiResponse, type CallOptions, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createExpiredKey, createKey, createTenant, type Tenant } from '../support/tenants.ts';

const limitHeadersOf = (response: ApiResponse) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-policy'].map((name) => response.headers.get(name));
const remainingOf = ({ headers }: ApiResponse) => Number(headers.get('x-ratelimit-remaining'));

/** Asserts a 429 with `Retry-After`. */
function assertLimited(response: ApiResponse, message: RegExp): void {
  assertError(response, 429, message);
  assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

interface Setup {
  readonly api: Api;
  readonly own: Tenant;
  /** Requests a small list. */
  readonly get: (key: string | null, options?: CallOptions) => Promise<ApiResponse>;
}

/** Runs a test with settings such as RATE_LIMIT_POINTS, and a workspace with one record of each resource. */
function withSettings(
  settings: Readonly<Record<string, string>>,
  test: (setup: Setup) => Promise<void>,
): Promise<void> {
  return withService(
    async (api) => {
      const own = await createTenant(api, 'own');
      await test({ api, own, get: (key, options) => api.call('GET', '/domains', { key, ...options }) });
    },
    { settings },
  );
}

suite('the limit of a key', {
  'counts down to 0, and then rejects requests and states the time to wait': () =>
    withSettings({ RATE_LIMIT_POINTS: '3', RATE_LIMIT_WINDOW_SECONDS: '300' }, async ({ own, get }) => {
      for (const remaining of [2, 1, 0]) {
        const response = await get(own.key);
        assert.equal(response.status, 200);
        assert.deepEqual(limitHeadersOf(response), ['3', String(remaining), '"default";q=3;w=300']);
      }
      for (let more = 0; more < 3; more++) {
        const response = await get(own.key);
        assertLimited(response, /^Too many requests with this key: at most 3 in 300 seconds\. Retry in \d+ seconds\.$/);
        assert.deepEqual(limitHeadersOf(response), ['3', '0', '"default";q=3;w=300']);
        const { headers } = response;
        const [wait, reset] = [Number(headers.get('retry-after')), Number(headers.get('x-ratelimit-reset'))];
        assert.ok(wait > 200 && wait <= 300, `${wait}`);
        assert.equal(headers.get('ratelimit'), `"default";r=0;t=${wait}`);
        assert.ok(Math.abs(reset - wait - Date.now() / 1000) < 100, `${reset}`);
      }
    }),

  'restarts when its window ends': () =>
    withSettings({ RATE_LIMIT_POINTS: '1', RATE_LIMIT_WINDOW_SECONDS: '1' }, async ({ own, get }) => {
      const waits = [];
      let response = await get(own.key);
      while (response.status === 200) response = await get(own.key);
      for (; response.status === 429; response = await get(own.key)) {
        assertLimited(response, /: at most 1 in 1 second\. Retry in 1 second\.$/);
        waits.push(response.headers.get('retry-after'));
      }
      assert.equal(response.status, 200);
      assert.deepEqual([...new Set(waits)], ['1']);
    }),

  'applies to each key separately': () =>
    withSettings({ RATE_LIMIT_POINTS: '2' }, async ({ api, own, get }) => {
      const other = await createTenant(api, 'other');
      const second = await createKey(api, own.workspaceId);
      for (const key of [own.key, second, other.key]) {
        assert.deepEqual([remainingOf(await get(key)), remainingOf(await get(key))], [1, 0]);
        assertLimited(await get(key), /this key/);
      }
    }),

  'counts requests for an operation with a valid key, including those that cause an error or are not permitted': () =>
    withSettings({ RATE_LIMIT_POINTS: '100' }, async ({ api, own, get }) => {
      const { key } = own;
      let before = remainingOf(await get(key));
      const calls: Readonly<Record<string, () => Promise<ApiResponse>>> = {
        200: () => get(key),
        400: () => api.call('POST', '/tags', { key, body: '{' }),
        404: () => api.call('GET', `/campaigns/${UNKNOWN_ID}`, { key }),
        409: () => api.call('POST', '/tags', { key, body: { name: own.names.tag } }),
        422: () => api.call('POST', '/tags', { key, body: {} }),
      };
      await each(calls, async (call, status) => {
        const response = await call();
        assert.equal(response.status, Number(status));
        assert.equal(remainingOf(response), before - 1);
        before--;
      });
      const holders = [
        { access: 'read' },
        { member: { role: 'member' } },
        { member: { invitation: 'pending' } },
        { member: { invitation: 'expired' } },
      ] as const;
      for (const holder of holders) {
        const response = await api.call('POST', '/tags', {
          key: await createKey(api, own.workspaceId, holder),
          body: {},
        });
        assert.ok(response.status === 403 || response.status === 410, response.text);
        assert.equal(remainingOf(response), 99);
      }
    }),

  'does not count unknown paths, malformed paths and health probes, even with a key': () =>
    withSettings({ RATE_LIMIT_POINTS: '2' }, async ({ api, own: { key }, get }) => {
      assert.equal(remainingOf(await get(key)), 1);
      for (const path of ['/nothing', '/Domains', '/domains/1/more', '/healthz', '/readyz']) {
        const response = await api.call('GET', path, { key });
        assert.deepEqual(limitHeadersOf(response), [null, null, null]);
      }
      assertError(await api.call('PUT', '/domains', { key }), 404);
      assertError(await api.call('PATCH', '/tags/%ff', { key }), 400);
      assert.equal(remainingOf(await get(key)), 0);
      assertLimited(await get(key), /this key/);
      assertError(await api.call('GET', '/nothing', { key }), 404);
    }),
});

const INVALID_KEY = 'no-key-of-anyone';

suite('the limit of rejected credentials', {
  'rejects invalid keys from an address that exceeds the limit': () =>
    withSettings({ REJECTED_CREDENTIALS_PER_MINUTE: '3' }, async ({ get }) => {
      for (let times = 0; times < 3; times++) assertError(await get(INVALID_KEY), 401);
      const response = await get(INVALID_KEY);
      assertLimited(response, /^Too many rejected credentials from this address: at most 3 in 60 seconds\./);
      assert.equal(response.json.error.doc_url, '/docs/errors#rate-limit-exceeded-rejected-credentials');
      assert.equal(response.headers.get('www-authenticate'), null);
      assert.deepEqual(limitHeadersOf(response), [null, null, null]);
    }),

  'counts every type of rejected credential': () =>
    withSettings({ REJECTED_CREDENTIALS_PER_MINUTE: '7' }, async ({ api, own, get }) => {
      const expired = await createExpiredKey(api.app, own.workspaceId);
      const headers = [
        { Authorization: '' },
        { Authorization: 'Bearer' },
        { Authorization: `Basic ${btoa('user:password')}` },
        { Authorization: `Token ${own.key}` },
        { Authorization: `Bearer ${expired}` },
        { Authorization: `Bearer ${createApiKeySecret('0'.repeat(32))}` },
        { Authorization: `Bearer ${own.key}0` },
      ];
      for (const header of headers) assertError(await get(null, { headers: header }), 401);
      await each(
        headers.map((header) => [header.Authorization, header] as const),
        async (header) => assertLimited(await get(null, { headers: header }), /rejected credentials/),
      );
    }),

  'does not count a missing Authorization header, an unknown path or a valid key without permission': () =>
    withSettings({ REJECTED_CREDENTIALS_PER_MINUTE: '1' }, async ({ api, own, get }) => {
      const reader = await createKey(api, own.workspaceId, { access: 'read' });
      for (let times = 0; times < 3; times++) {
        assertError(await get(null), 401);
        assertError(await api.call('GET', '/nothing', { key: INVALID_KEY }), 404);
        assertError(await api.call('PATCH', '/tags/%ff', { key: INVALID_KEY }), 400);
        assertError(await api.call('POST', '/tags', { key: reader, body: {} }), 403);
      }
      assertError(await get(INVALID_KEY), 401);
      assertLimited(await get(INVALID_KEY), /rejected credentials/);
    }),

  'does not apply to requests without a key or with a valid key, even from an address that exceeds the limit': () =>
    withSettings({ REJECTED_CREDENTIALS_PER_MINUTE: '1' }, async ({ own, get }) => {
      await get(INVALID_KEY);
      for (let times = 0; times < 3; times++) {
        assertLimited(await get(INVALID_KEY), /rejected credentials/);
        const missing = await get(null);
        assertError(missing, 401);
        assert.equal(missing.headers.get('www-authenticate'), 'Bearer');
        assert.equal((await get(own.key)).status, 200);
      }
    }),
});

/** Sends a request with an invalid key and these addresses in X-Forwarded-For. */
const sendFrom = (api: Api, addresses: string) =>
  callRaw(api, { method: 'GET', target: '/domains', key: INVALID_KEY, headers: [['X-Forwarded-For', addresses]] });

suite('the address of a caller', {
  'is that of the connection if no proxy is trusted, or only proxies with other addresses': () =>
    each(
      { unset: {}, ...Object.fromEntries(['10.0.0.0/8', 'false', '0'].map((it) => [it, { TRUST_PROXY: it }])) },
      (trust) =>
        withSettings({ REJECTED_CREDENTIALS_PER_MINUTE: '1', ...trust }, async ({ api }) => {
          assertError(await sendFrom(api, '203.0.113.1'), 401);
          for (const address of ['203.0.113.2', '127.0.0.1', ''])
            assertLimited(await sendFrom(api, address), /credentials/);
        }),
    ),

  'is taken from X-Forwarded-For if the proxy is trusted': () =>
    each(textCases('true', '1', 'loopback', '127.0.0.1', '10.0.0.0/8, 127.0.0.0/8'), (TRUST_PROXY) =>
      withSettings({ REJECTED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY }, async ({ api }) => {
        for (const address of [
          ...['203.0.113.1', '203.0.113.2', '2001:db8::1', '::ffff:203.0.113.3'],
          ...['203.0.113.4:50001', '[2001:db8:0:1::1]:443', '[2001:db8:0:2::1]'],
        ]) {
          assertError(await sendFrom(api, address), 401);
          assertLimited(await sendFrom(api, address), /credentials/);
        }
        if (TRUST_PROXY === 'true') return;
        // The caller added the first address.
        assertError(await sendFrom(api, '198.51.100.1, 203.0.113.9'), 401);
        assertLimited(await sendFrom(api, '198.51.100.2, 203.0.113.9'), /credentials/);
      }),
    ),

  'is found behind a trusted proxy that X-Forwarded-For names with a port': () =>
    withSettings(
      { REJECTED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY: 'loopback, 10.0.0.0/8, fd00::/8' },
      async ({ api }) => {
        assertError(await sendFrom(api, '203.0.113.1:50001, 10.0.0.1:4000, [fd00::1]:4000'), 401);
        assertLimited(await sendFrom(api, '203.0.113.1:50002, 10.0.0.2:5000'), /credentials/);
        assertError(await sendFrom(api, '203.0.113.2, [fd00::1]'), 401);
      },
    ),
});
