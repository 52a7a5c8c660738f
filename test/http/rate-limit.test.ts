import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { apiKeySecret } from '../../core/access/api-key.ts';
import { each, texts } from '../support/each.ts';
import { assertRefused } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw.ts';
import { type Answer, type Api, type Call, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createEndedKey, createKey, createTenant, NEVER, type Tenant } from '../support/tenants.ts';

const limits = (answer: Answer) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-policy'].map((name) => answer.headers.get(name));
const remaining = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'));

/** A 429 tells when to come again. */
function assertLimited(answer: Answer, message: RegExp): void {
  assertRefused(answer, 429, message);
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

interface Scene {
  readonly api: Api;
  readonly own: Tenant;
  /** Asks for a list that is small. */
  readonly get: (key: string | null, call?: Call) => Promise<Answer>;
}

/** Serves with settings, such as RATE_LIMIT_POINTS, to a workspace with one record of each kind. */
function limited(settings: Readonly<Record<string, string>>, test: (scene: Scene) => Promise<void>): Promise<void> {
  return withService(
    async (api) => {
      const own = await createTenant(api, 'own');
      await test({ api, own, get: (key, call) => api.call('GET', '/domains', { key, ...call }) });
    },
    { settings },
  );
}

suite('the limit of a key', {
  'counts down to none, and then refuses with the time to wait': () =>
    limited({ RATE_LIMIT_POINTS: '3', RATE_LIMIT_WINDOW_SECONDS: '300' }, async ({ own, get }) => {
      for (const left of [2, 1, 0]) {
        const answer = await get(own.key);
        assert.equal(answer.status, 200);
        assert.deepEqual(limits(answer), ['3', String(left), '"default";q=3;w=300']);
      }
      for (let more = 0; more < 3; more++) {
        const answer = await get(own.key);
        assertLimited(
          answer,
          /^Too many requests with this key: at most 3 in 300 seconds\. Try again in \d+ seconds\.$/,
        );
        assert.deepEqual(limits(answer), ['3', '0', '"default";q=3;w=300']);
        const { headers } = answer;
        const [wait, reset] = [Number(headers.get('retry-after')), Number(headers.get('x-ratelimit-reset'))];
        assert.ok(wait > 200 && wait <= 300, `${wait}`);
        assert.equal(headers.get('ratelimit'), `"default";r=0;t=${wait}`);
        assert.ok(Math.abs(reset - wait - Date.now() / 1000) < 100, `${reset}`);
      }
    }),

  'begins anew when its window has ended': () =>
    limited({ RATE_LIMIT_POINTS: '1', RATE_LIMIT_WINDOW_SECONDS: '1' }, async ({ own, get }) => {
      const waiting = [];
      let answer = await get(own.key);
      while (answer.status === 200) answer = await get(own.key);
      for (; answer.status === 429; answer = await get(own.key)) waiting.push(answer.headers.get('retry-after'));
      assert.equal(answer.status, 200);
      assert.deepEqual([...new Set(waiting)], ['1']);
    }),

  'is each key’s own': () =>
    limited({ RATE_LIMIT_POINTS: '2' }, async ({ api, own, get }) => {
      const other = await createTenant(api, 'other');
      const second = await createKey(api, own.workspaceId);
      for (const key of [own.key, second, other.key]) {
        assert.deepEqual([remaining(await get(key)), remaining(await get(key))], [1, 0]);
        assertLimited(await get(key), /this key/);
      }
    }),

  'counts every answer of an operation, refusals too': () =>
    limited({ RATE_LIMIT_POINTS: '100' }, async ({ api, own, get }) => {
      const { key } = own;
      let before = remaining(await get(key));
      const calls: Readonly<Record<string, () => Promise<Answer>>> = {
        200: () => get(key),
        400: () => api.call('POST', '/tags', { key, body: '{' }),
        404: () => api.call('GET', `/campaigns/${NEVER}`, { key }),
        409: () => api.call('POST', '/tags', { key, body: { name: own.names.tag } }),
        422: () => api.call('POST', '/tags', { key, body: {} }),
      };
      await each(calls, async (call, status) => {
        const answer = await call();
        assert.equal(answer.status, Number(status));
        assert.equal(remaining(answer), before - 1);
        before--;
      });
    }),

  'counts the requests of a key that may not do them': () =>
    limited({ RATE_LIMIT_POINTS: '1' }, async ({ api, own }) => {
      const holders = [
        [403, { access: 'read' }],
        [403, { member: { role: 'member' } }],
        [403, { member: { invitation: 'pending' } }],
        [410, { member: { invitation: 'expired' } }],
      ] as const;
      for (const [status, holder] of holders) {
        const key = await createKey(api, own.workspaceId, holder);
        const answer = await api.call('POST', '/tags', { key, body: {} });
        assertRefused(answer, status);
        assert.equal(remaining(answer), 0);
        assertLimited(await api.call('POST', '/tags', { key, body: {} }), /this key/);
      }
    }),

  'does not count what is at no path, or not for a key': () =>
    limited({ RATE_LIMIT_POINTS: '2' }, async ({ api, own: { key }, get }) => {
      assert.equal(remaining(await get(key)), 1);
      for (const path of ['/nothing', '/Domains', '/domains/more', '/healthz', '/readyz']) {
        const answer = await api.call('GET', path, { key });
        assert.deepEqual(limits(answer), [null, null, null]);
      }
      assertRefused(await api.call('PUT', '/domains', { key }), 404);
      assertRefused(await api.call('PATCH', '/tags/%ff', { key }), 400);
      assert.equal(remaining(await get(key)), 0);
      assertLimited(await get(key), /this key/);
      assertRefused(await api.call('GET', '/nothing', { key }), 404);
    }),

  'is spent without any effect': () =>
    limited({ RATE_LIMIT_POINTS: '1' }, async ({ api, own, get }) => {
      await get(own.key);
      assertLimited(await api.call('POST', '/tags', { key: own.key, body: { name: 'one' } }), /this key/);
      const key = await createKey(api, own.workspaceId);
      assert.equal((await api.call('POST', '/tags', { key, body: { name: 'one' } })).status, 201);
    }),
});

const bad = 'no-key-of-anyone';

suite('the limit of refused credentials', {
  'refuses an address that sent too many': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '3' }, async ({ get }) => {
      for (let times = 0; times < 3; times++) assertRefused(await get(bad), 401);
      const answer = await get(bad);
      assertLimited(answer, /^Too many refused credentials from this address: at most 3 in 60 seconds\./);
      assert.equal(answer.headers.get('www-authenticate'), null);
      assert.deepEqual(limits(answer), [null, null, null]);
    }),

  'counts every credential that is refused, of whatever kind': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '7' }, async ({ api, own, get }) => {
      const ended = await createEndedKey(api.app, own.workspaceId);
      const headers = [
        { Authorization: '' },
        { Authorization: 'Bearer' },
        { Authorization: `Basic ${btoa('user:password')}` },
        { Authorization: `Token ${own.key}` },
        { Authorization: `Bearer ${ended}` },
        { Authorization: `Bearer ${apiKeySecret('0'.repeat(32))}` },
        { Authorization: `Bearer ${own.key}0` },
      ];
      for (const header of headers) assertRefused(await get(null, { headers: header }), 401);
      await each(
        headers.map((header) => [header.Authorization, header] as const),
        async (header) => assertLimited(await get(null, { headers: header }), /refused credentials/),
      );
    }),

  'does not count a missing header, an unknown path or what a good key may not do': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1' }, async ({ api, own, get }) => {
      const reader = await createKey(api, own.workspaceId, { access: 'read' });
      for (let times = 0; times < 3; times++) {
        assertRefused(await get(null), 401);
        assertRefused(await api.call('GET', '/nothing', { key: bad }), 404);
        assertRefused(await api.call('PATCH', '/tags/%ff', { key: bad }), 400);
        assertRefused(await api.call('POST', '/tags', { key: reader, body: {} }), 403);
      }
      assertRefused(await get(bad), 401);
      assertLimited(await get(bad), /refused credentials/);
    }),

  'leaves a missing header at 401 and serves a good key, from that address too': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1' }, async ({ own, get }) => {
      await get(bad);
      for (let times = 0; times < 3; times++) {
        assertLimited(await get(bad), /refused credentials/);
        const missing = await get(null);
        assertRefused(missing, 401);
        assert.equal(missing.headers.get('www-authenticate'), 'Bearer');
        assert.equal((await get(own.key)).status, 200);
      }
    }),
});

/** A well-formed key of nobody. */
const unknownKey = (number: number) => apiKeySecret(String(number).padStart(32, '0'));

/** How often keys were looked up, as the metrics have it. */
async function lookUpsOf({ metricsUrl }: Api): Promise<number> {
  const text = await (await fetch(metricsUrl as string)).text();
  const counts = text.matchAll(
    /^storage_operation_duration_seconds_count{kind="credentials",operation="get".*} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

const MEASURED = { REFUSED_CREDENTIALS_PER_MINUTE: '5', METRICS_PORT: '0' };
/** A second of a flood, and what its look-ups may be at 50 a second, on a slow machine too. */
const FLOOD_MS = 1_000;
const MAX_LOOK_UPS_PER_SECOND = 51;
const CONNECTIONS = 150;

/** Sends unknown keys over many connections until it is ended; the statuses of what was answered. */
function flood(get: Scene['get']): { end(): Promise<number[]> } {
  let isOver = false;
  let number = 1_000;
  const statuses: number[] = [];
  const lanes = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) statuses.push((await get(unknownKey(number++))).status);
  });
  return {
    async end() {
      isOver = true;
      await Promise.all(lanes);
      return statuses;
    },
  };
}

suite('an address over the limit of refused credentials', {
  'has few of its many keys looked up': () =>
    limited(MEASURED, async ({ api, get }) => {
      for (let number = 0; number < 6; number++) await get(unknownKey(number));
      const before = await lookUpsOf(api);
      const start = performance.now();
      const flooding = flood(get);
      await delay(FLOOD_MS);
      const statuses = await flooding.end();
      const seconds = (performance.now() - start) / 1000;
      const lookUps = (await lookUpsOf(api)) - before;
      assert.deepEqual([...new Set(statuses)], [429]);
      assert.ok(lookUps <= MAX_LOOK_UPS_PER_SECOND * (seconds + 1), `${lookUps} look-ups in ${seconds} s`);
    }),

  'has malformed keys rejected without a look-up or a wait': () =>
    limited(MEASURED, async ({ api, get }) => {
      for (let number = 0; number < 6; number++) await get(unknownKey(number));
      const before = await lookUpsOf(api);
      await Promise.all(Array.from({ length: 50 }, async () => assertLimited(await get(bad), /refused credentials/)));
      assert.equal(await lookUpsOf(api), before);
    }),

  'has a valid key served during a flood: at once if it is cached, otherwise after its look-up': () =>
    limited(MEASURED, async ({ api, own, get }) => {
      await get(own.key);
      for (let number = 0; number < 6; number++) await get(unknownKey(number));
      const flooding = flood(get);
      for (let times = 0; times < 20; times++) assert.equal((await get(own.key)).status, 200);
      await flooding.end();
      const fresh = await createKey(api, own.workspaceId);
      const [served] = await Promise.all([get(fresh), ...[1, 2, 3, 4].map((number) => get(unknownKey(number)))]);
      assert.equal(served.status, 200);
    }),

  'gets a Retry-After in each rejection': () =>
    limited(MEASURED, async ({ get }) => {
      for (let number = 0; number < 6; number++) await get(unknownKey(number));
      const answers = await Promise.all(Array.from({ length: 30 }, (_, number) => get(unknownKey(number))));
      for (const answer of answers) {
        assertLimited(answer, /^Too many refused credentials from this address: at most 5 in 60 seconds\./);
        assert.ok(Number(answer.headers.get('retry-after')) > 30);
      }
    }),
});

/** A request with a bad key that says to come through proxies from these addresses. */
const from = (api: Api, addresses: string) =>
  callRaw(api, { method: 'GET', target: '/domains', key: bad, headers: [['X-Forwarded-For', addresses]] });

suite('the address of a caller', {
  'is that of the connection, whatever X-Forwarded-For says': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1' }, async ({ api }) => {
      assertRefused(await from(api, '203.0.113.1'), 401);
      for (const address of ['203.0.113.2', '127.0.0.1', '']) assertLimited(await from(api, address), /credentials/);
    }),

  'is what X-Forwarded-For says where the operator trusts the proxy': () =>
    each(texts('true', '1', 'loopback', '127.0.0.1', '10.0.0.0/8, 127.0.0.0/8'), (TRUST_PROXY) =>
      limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY }, async ({ api }) => {
        for (const address of ['203.0.113.1', '203.0.113.2', '2001:db8::1', '::ffff:203.0.113.3']) {
          assertRefused(await from(api, address), 401);
          assertLimited(await from(api, address), /credentials/);
        }
      }),
    ),

  'is not what the caller puts in front of what the proxy says': () =>
    each(texts('1', 'loopback'), (TRUST_PROXY) =>
      limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY }, async ({ api }) => {
        assertRefused(await from(api, '198.51.100.1, 203.0.113.1'), 401);
        assertLimited(await from(api, '198.51.100.2, 203.0.113.1'), /credentials/);
      }),
    ),

  'is that of the connection where what the proxy says is no address': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY: '1' }, async ({ api }) => {
      assertRefused(await from(api, 'unknown'), 401);
      for (const text of ['another', 'x'.repeat(10_000), '203.0.113.1:8080']) {
        assertLimited(await from(api, text), /credentials/);
      }
    }),

  'is its network where it is an IPv6 address': () =>
    limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY: '1' }, async ({ api }) => {
      assertRefused(await from(api, '2001:db8::1'), 401);
      assertLimited(await from(api, '2001:db8::2'), /credentials/);
      assertRefused(await from(api, '2001:db8:0:1::1'), 401);
    }),

  'is that of the connection where another proxy is trusted, or none': () =>
    each(texts('10.0.0.0/8', 'false', '0'), (TRUST_PROXY) =>
      limited({ REFUSED_CREDENTIALS_PER_MINUTE: '1', TRUST_PROXY }, async ({ api }) => {
        assertRefused(await from(api, '203.0.113.1'), 401);
        assertLimited(await from(api, '203.0.113.2'), /credentials/);
      }),
    ),
});
