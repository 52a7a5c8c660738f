import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Admission } from '../../adapters/http/admission.ts';
import type { RequestContext } from '../../adapters/http/responder.ts';
import { ConcurrentClients, requestBytes, searchRequest, type TimedResponse } from '../support/concurrent-clients.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-service.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createKey, createTenant } from '../support/tenants.ts';

const MAX_PROBE_COUNT = 20;
const BURST_COUNT = 500;
/** The number of requests that a key may send in a minute by default. */
const KEY_LIMIT_COUNT = 600;
const CAMPAIGNS = 60;
const MIN_CLIENT_COUNT = 600;
const MAX_CLIENT_COUNT = 9_600;

const context = () => ({ startedAt: performance.now() }) as RequestContext;

suite('admission', {
  'begins probes at once, queues them if there are many, and rejects none': async () => {
    const admission = new Admission(() => undefined);
    let begun = 0;
    const begin = () => {
      begun++;
      return true;
    };
    const probe = () => admission.addProbe({ context: context(), begin, reject: assert.fail });
    for (let i = 0; i < 2 * BURST_COUNT; i++) {
      const one = context();
      admission.addProbe({
        context: one,
        begin: () => {
          queueMicrotask(() => admission.onResponse(one));
          return begin();
        },
        reject: assert.fail,
      });
    }
    assert.equal(begun, MAX_PROBE_COUNT);
    while (begun < 2 * BURST_COUNT) await nextIteration();
    probe();
    assert.equal(begun, 2 * BURST_COUNT + 1);
  },

  'skips requests whose clients have closed the connection': async () => {
    const admission = new Admission(() => undefined);
    let beginCount = 0;
    const begin = () => {
      beginCount++;
      return false;
    };
    for (let i = 0; i < KEY_LIMIT_COUNT; i++) admission.add('/', { context: context(), begin, reject: assert.fail });
    while (beginCount < KEY_LIMIT_COUNT) await nextIteration();
    assert.equal(beginCount, KEY_LIMIT_COUNT);
  },

  'does not count a request as in flight while it waits for its client': async () => {
    const admission = new Admission(() => undefined);
    let begun = 0;
    for (let i = 0; i < KEY_LIMIT_COUNT; i++) {
      const one = context();
      const begin = () => {
        begun++;
        void admission.excludeFromInFlight(one, new Promise(() => undefined), () => false);
        return true;
      };
      admission.add('/', { context: one, begin, reject: assert.fail });
    }
    while (begun < KEY_LIMIT_COUNT) await nextIteration();
    assert.equal(begun, KEY_LIMIT_COUNT);
  },
});

suite('many requests', {
  'are all served in repeated bursts of some hundred': () =>
    withService(async ({ url }) => {
      for (const size of [200, BURST_COUNT, KEY_LIMIT_COUNT]) {
        const crowd = await ConcurrentClients.open(url, size);
        for (let burst = 0; burst < 3; burst++) {
          const responses = await crowd.sendOnAll(requestBytes('GET', '/campaigns'));
          assert.equal(responses.filter(({ status }) => status === 200).length, size);
        }
        crowd.close();
      }
    }),

  'are all served if a key sends its limit of expensive requests at the same time, and are counted once': () =>
    withService(
      async (api) => {
        const crowd = await ConcurrentClients.open(api.url, KEY_LIMIT_COUNT);
        const responses = await crowd.sendOnAll(requestBytes('GET', '/campaigns?search=zq'));
        assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
        const [more] = await crowd.sendOnAll(requestBytes('GET', '/campaigns'));
        assert.equal(more?.status, 429);
        crowd.close();
      },
      { settings: { RATE_LIMIT_POINTS: `${KEY_LIMIT_COUNT}` } },
    ),

  'are rejected before other checks if there are too many, while health probes are served': () =>
    withService(
      async ({ url, metricsUrl, call }) => {
        const body = { ...campaignBody(), description: 'z'.repeat(5_000) };
        for (let i = 0; i < CAMPAIGNS; i++) assert.equal((await call('POST', '/campaigns', { body })).status, 201);
        const slow = requestBytes('GET', '/campaigns?search=zq');
        // The last byte of its body is never sent.
        const withoutKey = Buffer.from('POST /tags HTTP/1.1\r\nHost:\r\nContent-Length: 13\r\n\r\n{"name":"a"}');
        const ask = async (connections: number) => {
          const crowds = await Promise.all(
            [connections, connections, 1, 1].map((size) => ConcurrentClients.open(url, size)),
          );
          const requests = [slow, withoutKey, requestBytes('GET', '/healthz'), requestBytes('GET', '/readyz')];
          const responses = await Promise.all(crowds.map((crowd, i) => crowd.sendOnAll(requests[i] as Buffer)));
          for (const crowd of crowds) crowd.close();
          return responses as [
            slow: TimedResponse[],
            withoutKey: TimedResponse[],
            health: TimedResponse[],
            readiness: TimedResponse[],
          ];
        };
        const statuses = (responses: readonly TimedResponse[]) =>
          [...new Set(responses.map(({ status }) => status))].sort();
        // The number that overloads the service depends on the machine.
        let responses = await ask(MIN_CLIENT_COUNT);
        for (let size = 2 * MIN_CLIENT_COUNT; !statuses(responses[1]).includes(429); size *= 2) {
          assert.ok(size <= MAX_CLIENT_COUNT, 'no request was rejected');
          responses = await ask(size);
        }
        const [slowOnes, withoutKeys, ...probes] = responses;
        assert.ok(statuses(slowOnes).every((status) => [200, 429].includes(status)));
        assert.ok(statuses(withoutKeys).every((status) => [401, 429].includes(status)));
        assert.deepEqual(probes.map(statuses), [[200], [200]]);
        for (const { head, body } of withoutKeys.filter(({ status }) => status === 429)) {
          assert.match(head, /\r\nretry-after: 1\r\n/i);
          assert.match(head, /\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
          assert.equal(JSON.parse(body).error.code, 'rate_limit_exceeded');
        }
        assert.equal((await call('GET', '/campaigns')).status, 200);
        const metrics = await (await fetch(metricsUrl as string)).text();
        assert.match(metrics, /^http_requests_rejected_total\{reason="\w+"\} [1-9]/m);
      },
      { settings: { METRICS_PORT: '0' } },
    ),

  'get responses if their client ends its side of the connection': () =>
    withService(async ({ url }) => {
      const responses = await sendRaw(url, Array(BURST_COUNT).fill(requestBytes('GET', '/campaigns')), true);
      assert.deepEqual(
        responses.map(({ status }) => status),
        Array(BURST_COUNT).fill(200),
      );
    }),
});

/** Sends a burst of searches of a workspace with many campaigns, while another workspace reads a campaign. */
async function sendBurst(api: Api, campaigns: number, characters: number) {
  const [many, other] = [await createTenant(api, 'many'), await createTenant(api, 'other')];
  const fields = { ...campaignBody(), description: 'z'.repeat(characters) };
  for (let i = 0; i < campaigns; i += 100) {
    await api.app.campaigns.createMany({ workspaceId: many.workspaceId }, Array(100).fill(fields));
  }
  // The queue counts both keys for their workspace.
  const keys = [many.key, await createKey(api, many.workspaceId)];
  const connections = await Promise.all(Array.from({ length: SEARCHES }, () => ConcurrentClients.open(api.url, 1)));
  const one = await ConcurrentClients.open(api.url, 1);
  for (const key of [...keys, other.key]) await one.sendOnAll(searchRequest(0, key));
  const begun: ('search' | 'get')[] = [];
  const { campaigns: service } = api.app;
  const [list, read] = [service.list.bind(service), service.get.bind(service)];
  Object.assign(service, {
    list: (...args: Parameters<typeof list>) => begun.push('search') && list(...args),
    get: (...args: Parameters<typeof read>) => begun.push('get') && read(...args),
  });
  const burst = Promise.all(connections.map((each, i) => each.sendOnAll(searchRequest(i, keys[i % 2] as string))));
  while (begun.length === 0) await nextIteration();
  const path = `/campaigns/${other.ids.campaigns}`;
  const get = Buffer.from(requestBytes('GET', path).toString().replace(DEMO_API_KEY, other.key));
  const overtakingCounts: number[] = [];
  for (let i = 0; i < GETS; i++) {
    const before = begun.length;
    assert.equal((await one.sendOnAll(get))[0]?.status, 200);
    overtakingCounts.push(begun.length - before);
  }
  const statuses = (await burst).map(([response]) => response?.status);
  for (const connection of [...connections, one]) connection.close();
  assert.ok(begun.length > SEARCHES);
  return { passed: overtakingCounts, statuses: new Set(statuses) };
}

const SEARCHES = 120;
const GETS = 5;
const MAX_OVERTAKING_COUNT = 30;

suite('a burst of searches of one workspace', {
  'is served, and delays another workspace by only a few of them: in memory': () =>
    withService(async (api) => {
      const { passed: overtakingCounts, statuses } = await sendBurst(api, 100, 5_000);
      assert.ok(Math.max(...overtakingCounts) <= MAX_OVERTAKING_COUNT, `${overtakingCounts}`);
      assert.deepEqual([...statuses], [200]);
    }),

  'is served, and delays another workspace by only a few of them: on MongoDB': async () => {
    const { uri, stop } = await createDatabase();
    try {
      await withService(
        async (api) => {
          const { passed: overtakingCounts, statuses } = await sendBurst(api, 2_000, 200);
          assert.ok(Math.max(...overtakingCounts) <= MAX_OVERTAKING_COUNT, `${overtakingCounts}`);
          assert.deepEqual([...statuses], [200]);
        },
        { settings: createMongodbSettings(uri) },
      );
    } finally {
      await stop();
    }
  },
});
