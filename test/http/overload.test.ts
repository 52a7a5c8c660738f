import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Admission } from '../../adapters/http/admission.ts';
import type { RequestContext } from '../../adapters/http/responder.ts';
import { bytesOf, Crowd, searchOf, type Told } from '../support/concurrent-clients.ts';
import { mongod } from '../support/mongod.ts';
import { onMongodb } from '../support/mongodb-service.ts';
import { converse } from '../support/raw.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createKey, createTenant } from '../support/tenants.ts';

const MAX_PROBES_AT_ONCE = 20;
const BURST = 500;
/** As many as a key may send in a minute, by default. */
const LIMIT = 600;
const CAMPAIGNS = 60;
const FEWEST = 600;
const MOST = 9_600;

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
    for (let i = 0; i < 2 * BURST; i++) {
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
    assert.equal(begun, MAX_PROBES_AT_ONCE);
    while (begun < 2 * BURST) await nextIteration();
    probe();
    assert.equal(begun, 2 * BURST + 1);
  },

  'skips requests whose clients have closed the connection': async () => {
    const admission = new Admission(() => undefined);
    let asked = 0;
    const gone = () => {
      asked++;
      return false;
    };
    for (let i = 0; i < LIMIT; i++) admission.add('/', { context: context(), begin: gone, reject: assert.fail });
    while (asked < LIMIT) await nextIteration();
    assert.equal(asked, LIMIT);
  },

  'does not count a request as in flight while it waits for its client': async () => {
    const admission = new Admission(() => undefined);
    let begun = 0;
    for (let i = 0; i < LIMIT; i++) {
      const one = context();
      const begin = () => {
        begun++;
        void admission.whileWaitingFor(one, new Promise(() => undefined), () => false);
        return true;
      };
      admission.add('/', { context: one, begin, reject: assert.fail });
    }
    while (begun < LIMIT) await nextIteration();
    assert.equal(begun, LIMIT);
  },
});

suite('many requests', {
  'are all served where some hundreds come at once, again and again': () =>
    withService(async ({ url }) => {
      for (const size of [200, BURST, LIMIT]) {
        const crowd = await Crowd.open(url, size);
        for (let burst = 0; burst < 3; burst++) {
          const answers = await crowd.atOnce(bytesOf('GET', '/campaigns'));
          assert.equal(answers.filter(({ status }) => status === 200).length, size);
        }
        crowd.close();
      }
    }),

  'are all served if a key sends its limit of expensive requests at the same time, and are counted once': () =>
    withService(
      async (api) => {
        const crowd = await Crowd.open(api.url, LIMIT);
        const answers = await crowd.atOnce(bytesOf('GET', '/campaigns?search=zq'));
        assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
        const [more] = await crowd.atOnce(bytesOf('GET', '/campaigns'));
        assert.equal(more?.status, 429);
        crowd.close();
      },
      { settings: { RATE_LIMIT_POINTS: `${LIMIT}` } },
    ),

  'are refused where there are too many, before anything else is looked at; health and readiness are told': () =>
    withService(
      async ({ url, metricsUrl, call }) => {
        const body = { ...campaignBody(), description: 'z'.repeat(5_000) };
        for (let i = 0; i < CAMPAIGNS; i++) assert.equal((await call('POST', '/campaigns', { body })).status, 201);
        const slow = bytesOf('GET', '/campaigns?search=zq');
        // The last byte of its body never comes.
        const withoutKey = Buffer.from('POST /tags HTTP/1.1\r\nHost:\r\nContent-Length: 13\r\n\r\n{"name":"a"}');
        const ask = async (connections: number) => {
          const crowds = await Promise.all([connections, connections, 1, 1].map((size) => Crowd.open(url, size)));
          const requests = [slow, withoutKey, bytesOf('GET', '/healthz'), bytesOf('GET', '/readyz')];
          const answers = await Promise.all(crowds.map((crowd, i) => crowd.atOnce(requests[i] as Buffer)));
          for (const crowd of crowds) crowd.close();
          return answers as [slow: Told[], withoutKey: Told[], health: Told[], readiness: Told[]];
        };
        const statuses = (answers: readonly Told[]) => [...new Set(answers.map(({ status }) => status))].sort();
        // How many are too many is for the machine to say.
        let answers = await ask(FEWEST);
        for (let size = 2 * FEWEST; !statuses(answers[1]).includes(429); size *= 2) {
          assert.ok(size <= MOST, 'none was refused');
          answers = await ask(size);
        }
        const [slowOnes, withoutKeys, ...probes] = answers;
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

  'are answered where their client ends its side behind them': () =>
    withService(async ({ url }) => {
      const responder = await converse(url, Array(BURST).fill(bytesOf('GET', '/campaigns')), true);
      assert.deepEqual(
        responder.map(({ status }) => status),
        Array(BURST).fill(200),
      );
    }),
});

/** A workspace with many campaigns sends a burst of searches, and another one reads a campaign at the same time. */
async function sendBeside(api: Api, campaigns: number, characters: number) {
  const [many, other] = [await createTenant(api, 'many'), await createTenant(api, 'other')];
  const fields = { ...campaignBody(), description: 'z'.repeat(characters) };
  for (let i = 0; i < campaigns; i += 100) {
    await api.app.campaigns.createMany({ workspaceId: many.workspaceId }, Array(100).fill(fields));
  }
  // Two keys of one workspace share its place.
  const keys = [many.key, await createKey(api, many.workspaceId)];
  const connections = await Promise.all(Array.from({ length: SEARCHES }, () => Crowd.open(api.url, 1)));
  const one = await Crowd.open(api.url, 1);
  for (const key of [...keys, other.key]) await one.atOnce(searchOf(0, key));
  const begun: ('search' | 'get')[] = [];
  const { campaigns: service } = api.app;
  const [list, read] = [service.list.bind(service), service.get.bind(service)];
  Object.assign(service, {
    list: (...args: Parameters<typeof list>) => begun.push('search') && list(...args),
    get: (...args: Parameters<typeof read>) => begun.push('get') && read(...args),
  });
  const burst = Promise.all(connections.map((each, i) => each.atOnce(searchOf(i, keys[i % 2] as string))));
  while (begun.length === 0) await nextIteration();
  const path = `/campaigns/${other.ids.campaigns}`;
  const get = Buffer.from(bytesOf('GET', path).toString().replace(DEMO_API_KEY, other.key));
  const passed: number[] = [];
  for (let i = 0; i < GETS; i++) {
    const before = begun.length;
    assert.equal((await one.atOnce(get))[0]?.status, 200);
    passed.push(begun.length - before);
  }
  const statuses = (await burst).map(([answer]) => answer?.status);
  for (const connection of [...connections, one]) connection.close();
  assert.ok(begun.length > SEARCHES);
  return { passed, statuses: new Set(statuses) };
}

const SEARCHES = 120;
const GETS = 5;
const MAX_PASSED = 30;

suite('a burst of searches of one workspace', {
  'does not delay another workspace by more than a few of them, and is served: in memory': () =>
    withService(async (api) => {
      const { passed, statuses } = await sendBeside(api, 100, 5_000);
      assert.ok(Math.max(...passed) <= MAX_PASSED, `${passed}`);
      assert.deepEqual([...statuses], [200]);
    }),

  'does not delay another workspace by more than a few of them, and is served: on MongoDB': async () => {
    const { uri, stop } = await mongod();
    try {
      await withService(
        async (api) => {
          const { passed, statuses } = await sendBeside(api, 2_000, 200);
          assert.ok(Math.max(...passed) <= MAX_PASSED, `${passed}`);
          assert.deepEqual([...statuses], [200]);
        },
        { settings: onMongodb(uri) },
      );
    } finally {
      await stop();
    }
  },
});
