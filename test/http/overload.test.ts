import assert from 'node:assert/strict';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { operations } from '../../adapters/api/operations.ts';
import { classifyRequest } from '../../adapters/http/http-server.ts';
import type { Observer } from '../../adapters/http/observer.ts';
import { Admission, type QueuedRequest, type RequestKind } from '../../adapters/http/protection/admission.ts';
import type { RequestContext } from '../../adapters/http/request-context.ts';
import { ConcurrentClients, requestBytes, type TimedResponse } from '../support/concurrent-clients.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** `MAX_CONNECTION_COUNT` (adapters/persistence/connection-limit.ts). */
const MAX_IN_FLIGHT_COUNT = 50;
/** The constants of adapters/http/protection/admission.ts with the same names. */
const MAX_SCAN_COUNT = 8;
const OVERLOAD_DELAY_MS = 500;
const MAX_WAIT_MS = 5_000;
const ENOUGH_ITERATIONS = 50;

/**
 * An admission control with requests that end only if a test says so. The name of a request is its address, and so its
 * workspace.
 */
class Simulation {
  readonly begun: string[] = [];
  readonly rejected: string[] = [];
  readonly admission: Admission;
  private readonly contexts: RequestContext[] = [];

  constructor(onRejected: Observer['onRejected'] = () => undefined) {
    this.admission = new Admission([{ onResponse: () => undefined, onRejected }]);
  }

  /** Adds requests that arrived `age` milliseconds ago. */
  add(address: string, count = 1, { kind = 'request' as RequestKind, age = 0, isOpen = true } = {}): void {
    for (let i = 0; i < count; i++) {
      const context = { startedAt: performance.now() - age } as RequestContext;
      const begin = () => {
        this.begun.push(address);
        if (isOpen) this.contexts.push(context);
        return isOpen;
      };
      const reject = () => this.rejected.push(address);
      this.admission.add({ kind, context, address, begin, reject } satisfies QueuedRequest);
    }
  }

  /** Ends the oldest requests in flight. */
  end(count: number): void {
    for (const context of this.contexts.splice(0, count)) this.admission.onResponse(context, 200);
  }

  /** Lets requests begin, and returns the number of requests that have begun. */
  async settle(): Promise<number> {
    for (let i = 0; i < ENOUGH_ITERATIONS; i++) await nextIteration();
    return this.begun.length;
  }
}

suite('the admission control', {
  'counts a list with parameters as a scan, but no other GET': () => {
    for (const { path, mayScan } of operations.filter(({ method }) => method === 'GET')) {
      const url = path.replace('{id}', '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e01');
      const kinds = [url, `${url}?page=2`, `${url}/?page=2`].map((one) => classifyRequest({ url: one }));
      assert.deepEqual(kinds, mayScan ? ['request', 'scan', 'scan'] : ['request', 'request', 'request'], path);
    }
    // A tool may scan, and only the body names the tool.
    for (const url of ['/mcp', '/mcp/', '/mcp?sections=tags']) assert.equal(classifyRequest({ url }), 'scan');
  },

  'limits the requests in flight, and the scans to fewer': async () => {
    const simulation = new Simulation();
    simulation.add('a', 2 * MAX_IN_FLIGHT_COUNT);
    assert.equal(await simulation.settle(), MAX_IN_FLIGHT_COUNT);
    simulation.add('a', 2 * MAX_SCAN_COUNT, { kind: 'scan' });
    assert.equal(await simulation.settle(), MAX_IN_FLIGHT_COUNT + MAX_SCAN_COUNT);
    simulation.end(1);
    assert.equal(await simulation.settle(), MAX_IN_FLIGHT_COUNT + MAX_SCAN_COUNT + 1);
  },

  'serves workspaces in turn, so that six hundred searches of one delay another only by one': async () => {
    const simulation = new Simulation();
    simulation.add('busy', 600, { kind: 'scan' });
    await simulation.settle();
    simulation.add('other', 2, { kind: 'scan' });
    simulation.add('other', 1, { kind: 'request' });
    await simulation.settle();
    assert.deepEqual(simulation.begun.slice(MAX_SCAN_COUNT), ['other']);
    simulation.end(4);
    await simulation.settle();
    assert.deepEqual(simulation.begun.slice(MAX_SCAN_COUNT + 1), ['busy', 'other', 'busy', 'other']);
  },

  'begins health probes although the maximum is in flight, and rejects none': async () => {
    const simulation = new Simulation();
    simulation.add('a', 2 * MAX_IN_FLIGHT_COUNT);
    await simulation.settle();
    simulation.add('probe', 1_000, { kind: 'probe', age: 2 * MAX_WAIT_MS });
    await waitUntil(() => simulation.begun.length === MAX_IN_FLIGHT_COUNT + 1_000);
    assert.deepEqual(simulation.rejected, []);
  },

  'skips requests whose clients have closed the connection': async () => {
    const simulation = new Simulation();
    simulation.add('a', 2 * MAX_IN_FLIGHT_COUNT, { isOpen: false });
    assert.equal(await simulation.settle(), 2 * MAX_IN_FLIGHT_COUNT);
  },

  'does not count a request as in flight while it waits for its client': async () => {
    const { admission } = new Simulation();
    let begunCount = 0;
    for (let i = 0; i < 2 * MAX_IN_FLIGHT_COUNT; i++) {
      const context = { startedAt: performance.now() } as RequestContext;
      const begin = () => {
        void admission.awaitOutsideInFlightCount(context, new Promise(() => undefined), () => false);
        return ++begunCount > 0;
      };
      admission.add({ kind: 'request', context, begin, reject: assert.fail });
    }
    await waitUntil(() => begunCount === 2 * MAX_IN_FLIGHT_COUNT);
  },

  'serves a burst of any size, but rejects new requests at once while an earlier one of the workspace has waited for long':
    async () => {
      const reasons: string[] = [];
      const simulation = new Simulation((reason) => reasons.push(reason));
      simulation.add('a', MAX_IN_FLIGHT_COUNT + 1_000, { age: 1.5 * OVERLOAD_DELAY_MS });
      await simulation.settle();
      simulation.add('a');
      await simulation.settle();
      // Nothing was served yet: the storage may pause.
      assert.deepEqual(simulation.rejected, []);
      simulation.end(1);
      simulation.add('a');
      await simulation.settle();
      assert.deepEqual([simulation.rejected, reasons], [['a'], ['workspace']]);
    },

  'rejects requests of all workspaces while the next one has waited for long for its turn': async () => {
    const reasons: string[] = [];
    const simulation = new Simulation((reason) => reasons.push(reason));
    simulation.add('a', MAX_IN_FLIGHT_COUNT);
    await simulation.settle();
    simulation.add('b', 1, { age: 1.5 * OVERLOAD_DELAY_MS });
    simulation.add('c', 1, { age: 1.5 * OVERLOAD_DELAY_MS });
    simulation.end(1);
    await simulation.settle();
    simulation.add('d');
    await simulation.settle();
    assert.deepEqual([simulation.rejected, reasons], [['d'], ['service']]);
  },

  'rejects requests that have waited for too long': async () => {
    const reasons: string[] = [];
    const simulation = new Simulation((reason) => reasons.push(reason));
    simulation.add('a', 2 * MAX_IN_FLIGHT_COUNT);
    simulation.add('b', MAX_IN_FLIGHT_COUNT, { age: 2 * MAX_WAIT_MS });
    const serving = setInterval(() => simulation.end(1), OVERLOAD_DELAY_MS / 10);
    await waitUntil(() => simulation.rejected.length > 0);
    clearInterval(serving);
    assert.deepEqual([...new Set([...simulation.rejected, ...reasons])], ['b', 'timeout']);
  },
});

/**
 * Makes lists of campaigns wait until `release` is called, which lets one of them go on. `heldCount` is the number of
 * all.
 */
function holdLists({ app: { campaigns } }: Api) {
  const list = campaigns.list.bind(campaigns);
  const releases: (() => void)[] = [];
  const held = { heldCount: 0, release: () => releases.shift()?.() };
  Object.assign(campaigns, {
    list: async (...args: Parameters<typeof list>) => {
      held.heldCount++;
      await new Promise<void>((resolve) => releases.push(resolve));
      return list(...args);
    },
  });
  return held;
}

const getStatuses = (responses: readonly TimedResponse[]) => [...new Set(responses.map(({ status }) => status))];

suite('many requests', {
  'are all served if they arrive in bursts': () =>
    withService(async ({ url }) => {
      const clients = await ConcurrentClients.open(url, 200);
      for (let burst = 0; burst < 3; burst++) {
        assert.deepEqual(getStatuses(await clients.sendOnAll(requestBytes('GET', '/campaigns?search=zq'))), [200]);
      }
      clients.close();
    }),

  'are rejected before other checks if there are too many, while health probes are served': () =>
    withService(
      async (api) => {
        // From then on, the service knows the workspace of the key.
        assert.equal((await api.call('GET', '/tags')).status, 200);
        const held = holdLists(api);
        const [clients, one] = [
          await ConcurrentClients.open(api.url, 3 * MAX_IN_FLIGHT_COUNT),
          await ConcurrentClients.open(api.url, 1),
        ];
        const sendOne = async (request: Buffer | string) => (await one.sendOnAll(Buffer.from(request)))[0];
        const sent = clients.sendOnAll(requestBytes('GET', '/campaigns'));
        await waitUntil(() => held.heldCount === MAX_IN_FLIGHT_COUNT);
        // The service accepted this connection last, so it has read all requests before this one.
        assert.equal((await sendOne(requestBytes('GET', '/healthz')))?.status, 200);
        let serving = setInterval(held.release, OVERLOAD_DELAY_MS / 10);
        await delay(1.5 * OVERLOAD_DELAY_MS);
        const rejected = [
          ...['/campaigns', '/nothing', '/%ff'].map((target) => requestBytes('GET', target)),
          requestBytes('POST', '/tags', '{'),
        ];
        for (const request of rejected) {
          const response = await sendOne(request);
          assert.equal(response?.status, 429, String(request));
          assert.match(response.head, /\r\nretry-after: 1\r\n/i);
          assert.match(response.head, /\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
          assert.equal(JSON.parse(response.body).error.code, 'rate_limit_exceeded');
        }
        for (const path of ['/healthz', '/readyz/', `${api.url}/readyz?now=1`])
          assert.equal((await sendOne(requestBytes('GET', path)))?.status, 200, path);
        // Scans wait in a queue of their own.
        assert.equal((await sendOne(requestBytes('GET', '/tags?search=a')))?.status, 200);
        clearInterval(serving);
        serving = setInterval(() => {
          for (let i = 0; i < MAX_IN_FLIGHT_COUNT; i++) held.release();
        });
        assert.deepEqual(getStatuses(await sent), [200]);
        assert.equal((await sendOne(requestBytes('GET', '/campaigns')))?.status, 200);
        clearInterval(serving);
        const metrics = await (await fetch(api.metricsUrl as string)).text();
        assert.match(metrics, /^http_requests_rejected_total\{reason="\w+"\} [1-9]/m);
        for (const each of [clients, one]) each.close();
      },
      { settings: { METRICS_PORT: '0' } },
    ),

  'of one workspace that scan leave room for the other requests of each workspace': () =>
    withService(async (api) => {
      const other = await createTenant(api, 'other');
      const held = holdLists(api);
      const targets = [
        '/campaigns?search=a',
        '/campaigns?%73earch=a',
        '/campaigns/?page=100',
        `${api.url}/campaigns?page=2`,
      ];
      const groups = await Promise.all(targets.map(() => ConcurrentClients.open(api.url, MAX_SCAN_COUNT)));
      const sent = groups.map((clients, i) => clients.sendOnAll(requestBytes('GET', targets[i] as string)));
      await waitUntil(() => held.heldCount === MAX_SCAN_COUNT);
      for (const key of [undefined, other.key]) {
        assert.equal((await api.call('GET', '/tags', key === undefined ? {} : { key })).status, 200);
      }
      assert.equal(held.heldCount, MAX_SCAN_COUNT);
      const serving = setInterval(held.release);
      for (const responses of await Promise.all(sent)) assert.deepEqual(getStatuses(responses), [200]);
      clearInterval(serving);
      for (const clients of groups) clients.close();
    }),
});
