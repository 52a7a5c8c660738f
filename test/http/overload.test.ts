import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Admission } from '../../adapters/http/protection/admission.ts';
import type { RequestContext } from '../../adapters/http/responder.ts';
import { ConcurrentClients, requestBytes, searchRequest, type TimedResponse } from '../support/concurrent-clients.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createCampaignFields, createKey, createTenant } from '../support/tenants.ts';

/** The number of health probes that begin immediately in an iteration of the event loop (adapters/http/protection/admission.ts). */
const MAX_PROBE_COUNT = 20;
const BURST_COUNT = 500;
/** The number of requests that a key may send in a minute by default. */
const KEY_LIMIT_COUNT = 600;
const CAMPAIGN_COUNT = 60;
/** The first and the last number of clients with which a test tries to overload the service. */
const MIN_CLIENT_COUNT = 600;
const MAX_CLIENT_COUNT = 9_600;

/**
 * Settings for tests in which searches keep the service itself busy. If `TEST_STORAGE` is `mongodb`, these tests use memory storage:
 * MongoDB searches in a process of its own, so the tests would need more connections than they can open.
 */
const BUSY_SERVICE_SETTINGS: Readonly<Record<string, string>> =
  process.env.TEST_STORAGE === 'mongodb' ? { STORAGE: 'memory', DEMO_API_KEY } : {};

const context = () => ({ startedAt: performance.now() }) as RequestContext;

suite('admission', {
  'begins health probes immediately, queues them if there are many, and rejects none': async () => {
    const admission = new Admission([]);
    let beginCount = 0;
    const begin = () => {
      beginCount++;
      return true;
    };
    const addProbe = () => admission.addProbe({ context: context(), begin, reject: assert.fail });
    for (let i = 0; i < 2 * BURST_COUNT; i++) {
      const probeContext = context();
      admission.addProbe({
        context: probeContext,
        begin: () => {
          queueMicrotask(() => admission.onResponse(probeContext));
          return begin();
        },
        reject: assert.fail,
      });
    }
    assert.equal(beginCount, MAX_PROBE_COUNT);
    while (beginCount < 2 * BURST_COUNT) await nextIteration();
    addProbe();
    assert.equal(beginCount, 2 * BURST_COUNT + 1);
  },

  'skips requests whose clients have closed the connection': async () => {
    const admission = new Admission([]);
    let beginCount = 0;
    const begin = () => {
      beginCount++;
      // The client has closed the connection.
      return false;
    };
    for (let i = 0; i < KEY_LIMIT_COUNT; i++) admission.add('/', { context: context(), begin, reject: assert.fail });
    while (beginCount < KEY_LIMIT_COUNT) await nextIteration();
    assert.equal(beginCount, KEY_LIMIT_COUNT);
  },

  'does not count a request as in flight while it waits for its client': async () => {
    const admission = new Admission([]);
    let beginCount = 0;
    for (let i = 0; i < KEY_LIMIT_COUNT; i++) {
      const requestContext = context();
      const begin = () => {
        beginCount++;
        void admission.awaitOutsideInFlightCount(requestContext, new Promise(() => undefined), () => false);
        return true;
      };
      admission.add('/', { context: requestContext, begin, reject: assert.fail });
    }
    while (beginCount < KEY_LIMIT_COUNT) await nextIteration();
    assert.equal(beginCount, KEY_LIMIT_COUNT);
  },
});

suite('many requests', {
  'are all served if they arrive in repeated bursts of several hundred': () =>
    withService(async ({ url }) => {
      for (const size of [200, BURST_COUNT, KEY_LIMIT_COUNT]) {
        const clients = await ConcurrentClients.open(url, size);
        for (let burst = 0; burst < 3; burst++) {
          const responses = await clients.sendOnAll(requestBytes('GET', '/campaigns'));
          assert.equal(responses.filter(({ status }) => status === 200).length, size);
        }
        clients.close();
      }
    }),

  'are all served, and count once each, if a key sends its whole limit of searches at the same time': () =>
    withService(
      async (api) => {
        const clients = await ConcurrentClients.open(api.url, KEY_LIMIT_COUNT);
        const responses = await clients.sendOnAll(requestBytes('GET', '/campaigns?search=zq'));
        assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
        const [more] = await clients.sendOnAll(requestBytes('GET', '/campaigns'));
        assert.equal(more?.status, 429);
        clients.close();
      },
      { settings: { RATE_LIMIT_POINTS: `${KEY_LIMIT_COUNT}` } },
    ),

  'are rejected before other checks if there are too many, while health probes are served': () =>
    withService(
      async ({ url, metricsUrl, call }) => {
        const body = { ...createCampaignBody(), description: 'z'.repeat(5_000) };
        for (let i = 0; i < CAMPAIGN_COUNT; i++) assert.equal((await call('POST', '/campaigns', { body })).status, 201);
        const slow = requestBytes('GET', '/campaigns?search=zq');
        // The last byte of this request's body is never sent.
        const withoutKey = Buffer.from('POST /tags HTTP/1.1\r\nHost:\r\nContent-Length: 13\r\n\r\n{"name":"a"}');
        const sendAll = async (connectionCount: number) => {
          const groups = await Promise.all(
            [connectionCount, connectionCount, 1, 1].map((size) => ConcurrentClients.open(url, size)),
          );
          const requests = [slow, withoutKey, requestBytes('GET', '/healthz'), requestBytes('GET', '/readyz')];
          const responses = await Promise.all(groups.map((clients, i) => clients.sendOnAll(requests[i] as Buffer)));
          for (const clients of groups) clients.close();
          return responses as [
            slow: TimedResponse[],
            withoutKey: TimedResponse[],
            health: TimedResponse[],
            readiness: TimedResponse[],
          ];
        };
        const statuses = (responses: readonly TimedResponse[]) =>
          [...new Set(responses.map(({ status }) => status))].sort();
        // The number of clients that overloads the service depends on the machine.
        let responses = await sendAll(MIN_CLIENT_COUNT);
        for (let size = 2 * MIN_CLIENT_COUNT; !statuses(responses[1]).includes(429); size *= 2) {
          assert.ok(size <= MAX_CLIENT_COUNT, 'no request was rejected');
          responses = await sendAll(size);
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
      { settings: { ...BUSY_SERVICE_SETTINGS, METRICS_PORT: '0' } },
    ),

  'get responses even if their client ends its side of the connection': () =>
    withService(async ({ url }) => {
      const responses = await sendRaw(url, Array(BURST_COUNT).fill(requestBytes('GET', '/campaigns')), true);
      assert.deepEqual(
        responses.map(({ status }) => status),
        Array(BURST_COUNT).fill(200),
      );
    }),
});

/**
 * Sends a burst of searches of a workspace with many campaigns, and then a read of another workspace. Returns how many requests
 * began between the read and its response, and the statuses of the searches.
 */
async function sendBurst(api: Api, campaignCount: number, descriptionLength: number) {
  const [many, other] = [await createTenant(api, 'many'), await createTenant(api, 'other')];
  const fields = { ...createCampaignFields(), description: 'z'.repeat(descriptionLength) };
  for (let i = 0; i < campaignCount; i += 100) {
    await Promise.all(Array.from({ length: 100 }, () => api.app.campaigns.create(many, fields)));
  }
  // The queue treats the requests of both keys as those of one workspace. It learns the workspace of a key from the first request with
  // this key.
  const keys = [many.key, await createKey(api, many.workspaceId)];
  const connections = await Promise.all(Array.from({ length: SEARCH_COUNT }, () => ConcurrentClients.open(api.url, 1)));
  const otherConnection = await ConcurrentClients.open(api.url, 1);
  for (const key of [...keys, other.key]) await otherConnection.sendOnAll(searchRequest(0, key));
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
  const before = begun.length;
  assert.equal((await otherConnection.sendOnAll(get))[0]?.status, 200);
  const overtakingCount = begun.length - before;
  const statuses = (await burst).map(([response]) => response?.status);
  for (const connection of [...connections, otherConnection]) connection.close();
  assert.ok(begun.length > SEARCH_COUNT);
  return { overtakingCount, statuses: new Set(statuses) };
}

const SEARCH_COUNT = 120;
/**
 * The maximum number of searches that may begin between the read and its response. It is generous, because a read takes longer on
 * a busy machine. On MongoDB, 75 or more searches begin without a separate queue for searches. On each storage, almost all begin
 * without this queue and without fair queueing.
 */
const MAX_OVERTAKING_COUNT = SEARCH_COUNT / 2;

suite('a burst of searches of one workspace', {
  'is served, and at most half of it begins while a read of another workspace waits': () =>
    withService(
      async (api) => {
        const { overtakingCount, statuses } = await sendBurst(api, 100, 5_000);
        assert.ok(overtakingCount <= MAX_OVERTAKING_COUNT, String(overtakingCount));
        assert.deepEqual([...statuses], [200]);
      },
      { settings: BUSY_SERVICE_SETTINGS },
    ),

  'on MongoDB is served, and at most half of it begins while a read of another workspace waits': async () => {
    const { uri, stop } = await createDatabase();
    try {
      await withService(
        async (api) => {
          const { overtakingCount, statuses } = await sendBurst(api, 2_000, 200);
          assert.ok(overtakingCount <= MAX_OVERTAKING_COUNT, String(overtakingCount));
          assert.deepEqual([...statuses], [200]);
        },
        { settings: createMongodbSettings(uri) },
      );
    } finally {
      await stop();
    }
  },
});
