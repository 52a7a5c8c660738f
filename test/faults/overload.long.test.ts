import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  ConcurrentClients,
  requestBytes,
  searchRequest,
  type TimedResponse,
  TimeoutClients,
} from '../support/concurrent-clients.ts';
import { quantile } from '../support/load.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, SMALL_HEAP, withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/request.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { usageOf } from '../support/usage.ts';

const CAMPAIGN_COUNT = 60;
const CREATOR_COUNT = 20;
const CONNECTION_COUNT = 2_000;

/**
 * Each round measures the capacity and then the overload, so that other programs on the machine affect both. On a busy machine,
 * more rounds are necessary.
 */
const MIN_ROUND_COUNT = 5;
const MAX_ROUND_COUNT = 20;
/**
 * The minimum throughput under overload, as a ratio of the capacity. Both are served requests per second of processor time. If the
 * service did not limit the time that rejections take, less than a quarter would be served (docs/adr/0016-overload.md).
 */
const MIN_RATIO = 0.8;
/** The maximum latency of rejections, as the median of the rounds. */
const MAX_REJECTION_MS = 250;
const WARM_UP_DURATION_MS = 3_000;
/** The number of connections that send nothing. */
const SILENT_CONNECTION_COUNT = 1_500;
/**
 * The maximum time until a new connection gets a response. A tenth of this time would suffice. The event loop accepts one connection in
 * each turn. When a turn could take ten milliseconds while connections waited, the response took twice this time.
 */
const ACCEPT_TIMEOUT_MS = 2_000;
/** How long a load runs before the measurement, and during it. */
const RAMP_UP_DURATION_MS = 1_000;
const MEASUREMENT_DURATION_MS = 1_500;

/**
 * A search takes two milliseconds of processor time, so this process can send three times as many searches as the service can
 * serve. A search reads little memory, so other programs hardly change its processor time.
 */
const SEARCH = requestBytes('GET', '/campaigns?search=zq');
const CAMPAIGN = JSON.stringify({ ...createCampaignBody(), description: 'z'.repeat(5_000) });

/** The measurement of a load. */
interface Measurement {
  readonly served: number;
  readonly seconds: number;
  /** The processor time of the service, which other programs on the machine hardly affect. */
  readonly cpuSeconds: number;
  /** All responses, including those before the measurement. */
  readonly responses: readonly TimedResponse[];
}

/** Sends requests for a while. `capacity` is in requests per second. */
type SendLoad = (clients: ConcurrentClients, capacity: number, milliseconds: number) => Promise<TimedResponse[]>;

/** A load on persistent connections. Each connection sends its next request only after the response to the previous one. */
interface ClosedLoad {
  readonly sendLoad: SendLoad;
  /** The fraction of rejections that must be fast. Clients that ignore `Retry-After` wait longer for their rejections. */
  readonly rejectionQuantile: number;
}

const loads: Readonly<Record<string, ClosedLoad>> = {
  'that gets three times as many requests as it can serve': {
    sendLoad: (clients, capacity, milliseconds) => clients.sendAtRate(SEARCH, 3 * capacity, milliseconds),
    rejectionQuantile: 0.9,
  },
  'whose two thousand clients each send the next request directly after a response': {
    sendLoad: (clients, _capacity, milliseconds) => clients.sendInLoop(SEARCH, milliseconds),
    rejectionQuantile: 0.5,
  },
};

for (const [name, { sendLoad, rejectionQuantile }] of Object.entries(loads)) {
  suite(`a service ${name}`, {
    [`serves 80% of its capacity, rejects the rest at once, uses little more memory, and recovers at once (${name})`]:
      () =>
        withCampaigns(async (service) => {
          const { residentMiB } = usageOf(service.child.pid as number);
          const few = await ConcurrentClients.open(service.url, 32);
          const many = await ConcurrentClients.open(service.url, CONNECTION_COUNT);
          await few.sendInLoop(SEARCH, WARM_UP_DURATION_MS);
          const memoryBefore = residentMiB();
          const [baselines, overloads]: [Measurement[], Measurement[]] = [[], []];
          const probes: TimedResponse[] = [];
          const getRatio = () => getServedPerCpuSecond(overloads) / getServedPerCpuSecond(baselines);
          const getRejectionMsOf = ({ responses }: Measurement) =>
            quantile(getMilliseconds(responses.filter(isRejected)), rejectionQuantile);
          const getRejectionMs = () => quantile(overloads.map(getRejectionMsOf), 0.5);
          const isGood = () => getRatio() >= MIN_RATIO && getRejectionMs() < MAX_REJECTION_MS;
          const isComplete = () => overloads.length >= MIN_ROUND_COUNT && isGood();
          while (!isComplete() && overloads.length < MAX_ROUND_COUNT) {
            const baseline = await measure(service, (milliseconds) => few.sendInLoop(SEARCH, milliseconds));
            const probing = startProbes(service.url);
            const capacity = baseline.served / baseline.seconds;
            overloads.push(await measure(service, (milliseconds) => sendLoad(many, capacity, milliseconds)));
            baselines.push(baseline);
            for (const probe of await probing.stop()) probes.push(probe);
          }
          const baselineResponses = baselines.flatMap((baseline) => baseline.responses);
          const responses = overloads.flatMap((overload) => overload.responses);
          const rejections = responses.filter(isRejected);
          const results = {
            ratio: getRatio(),
            loadFactor: responses.length / baselineResponses.length,
            rejectionRatio: rejections.length / responses.length,
            rejectionMs: getRejectionMs(),
            probeMs: quantile(getMilliseconds(probes), 0.99),
            memoryGrowthMiB: residentMiB() - memoryBefore,
          };
          const summary = JSON.stringify(results);
          assert.ok(isGood(), summary);
          assert.ok(results.loadFactor > 2, summary);
          assert.ok(results.probeMs < 1_000 && probes.length > 100, summary);
          assert.ok(results.memoryGrowthMiB < 200, summary);
          assert.deepEqual(getStatuses(responses), [200, 429]);
          assert.deepEqual(getStatuses(probes), [200]);
          // Every baseline except the first one directly follows an overload, so this shows the recovery.
          assert.deepEqual(getStatuses(baselineResponses), [200]);
          assert.ok(rejections.every(({ head }) => /\r\nRetry-After: 1(\r|$)/i.test(head)));
          few.close();
          many.close();
        }),
  });
}

suite('a service that is busy', {
  'accepts new connections': () =>
    withCampaigns(async ({ url }) => {
      const few = await ConcurrentClients.open(url, 32);
      const searching = few.sendInLoop(SEARCH, ACCEPT_TIMEOUT_MS + WARM_UP_DURATION_MS);
      await delay(WARM_UP_DURATION_MS);
      const silent = await ConcurrentClients.open(url, SILENT_CONNECTION_COUNT);
      const one = await ConcurrentClients.open(url, 1);
      const [probe] = await one.sendOnAll(requestBytes('GET', '/healthz'));
      assert.ok(probe && probe.status === 200 && probe.milliseconds < ACCEPT_TIMEOUT_MS, JSON.stringify(probe));
      assert.deepEqual(getStatuses(await searching), [200]);
      for (const clients of [few, silent, one]) clients.close();
    }),
});

const CLIENT_TIMEOUT_MS = 2_000;
const CAPACITY_DURATION_MS = 2_000;
const OVERLOAD_DURATION_MS = 6_000;
const RECOVERY_DURATION_MS = 2_000;
const OPEN_ROUND_COUNT = 5;
const CAPACITY_CLIENT_COUNT = 16;

/** A load of searches at a constant rate, from clients that do not wait for earlier responses and give up after a timeout. */
interface OpenLoad {
  readonly storage: 'memory' | 'mongodb';
  /** The number of campaigns that a search reads, which determines its cost. */
  readonly campaigns: number;
  /** The load, as a multiple of the capacity. */
  readonly factor: number;
  /**
   * The minimum throughput, as a ratio of the possible throughput. On MongoDB, the possible throughput is the capacity. In memory, it is
   * the capacity minus the cost of the rejections.
   */
  readonly minRatio: number;
  /** The maximum ratio of requests without a response to all requests. */
  readonly maxUnanswered: number;
}

const openLoads: Readonly<Record<string, OpenLoad>> = {
  'of 0.5 ms in memory': { storage: 'memory', campaigns: 20, factor: 3, minRatio: 0.75, maxUnanswered: 0.1 },
  'of 5 ms in memory': { storage: 'memory', campaigns: 160, factor: 3, minRatio: 0.8, maxUnanswered: 0.05 },
  'of 50 ms in memory': { storage: 'memory', campaigns: 1_600, factor: 3, minRatio: 0.8, maxUnanswered: 0.05 },
  'of 5 ms on MongoDB': { storage: 'mongodb', campaigns: 400, factor: 2, minRatio: 0.8, maxUnanswered: 0.05 },
  'of 25 ms on MongoDB': { storage: 'mongodb', campaigns: 2_000, factor: 2, minRatio: 0.8, maxUnanswered: 0.05 },
};

/** Returns a request to an unknown path. Like an overload rejection, its 404 is sent before authentication, at the same cost. */
const createUnknownPathRequest = () => Buffer.from('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n');

for (const [name, { storage, campaigns, factor, minRatio, maxUnanswered }] of Object.entries(openLoads)) {
  suite(`a service that is sent ${factor} times as many searches ${name} as it can serve`, {
    [`serves most of its capacity, responds to almost all requests, rejects at once, and recovers (${name})`]: () =>
      withStorage(storage, campaigns, async ({ url, child }, key) => {
        const clients = new TimeoutClients(url, CLIENT_TIMEOUT_MS);
        const { cpuSeconds } = usageOf(child.pid as number);
        const search = (i: number) => searchRequest(i, key);
        await clients.sendInLoop(search, CAPACITY_CLIENT_COUNT, WARM_UP_DURATION_MS);
        const cpuBefore = cpuSeconds();
        const rejectionCount = (
          await clients.sendInLoop(createUnknownPathRequest, CAPACITY_CLIENT_COUNT, CAPACITY_DURATION_MS)
        ).length;
        const rejectionSeconds = (cpuSeconds() - cpuBefore) / rejectionCount;
        const rounds: { ratio: number; unanswered: number; rejectedMs: number }[] = [];
        for (let round = 0; round < OPEN_ROUND_COUNT; round++) {
          const baseline = await clients.sendInLoop(search, CAPACITY_CLIENT_COUNT, CAPACITY_DURATION_MS);
          const capacity = computeGoodput(baseline);
          const outcomes = await clients.sendAtRate(search, factor * capacity, OVERLOAD_DURATION_MS);
          // In memory, the possible throughput is capacity × (1 − rejections per second × cost of a rejection in seconds).
          const rejectedPerSecond = (factor - 1) * capacity;
          const possible = storage === 'memory' ? capacity * (1 - rejectedPerSecond * rejectionSeconds) : capacity;
          rounds.push({
            ratio: computeGoodput(outcomes) / possible,
            unanswered: outcomes.filter(({ status }) => status === 0).length / outcomes.length,
            rejectedMs: quantile(getMilliseconds(outcomes.filter(isRejected)), 0.9),
          });
          assert.ok(outcomes.every(({ status }) => [0, 200, 429].includes(status)));
          await delay(RECOVERY_DURATION_MS);
          const after = await Promise.all(
            Array.from({ length: CAPACITY_CLIENT_COUNT }, (_, i) => clients.send(search(i))),
          );
          assert.deepEqual(getStatuses(after), [200]);
        }
        clients.close();
        const getMedian = (getValue: (round: (typeof rounds)[number]) => number) => quantile(rounds.map(getValue), 0.5);
        const summary = JSON.stringify(rounds);
        assert.ok(getMedian((round) => round.ratio) >= minRatio, summary);
        assert.ok(getMedian((round) => round.unanswered) <= maxUnanswered, summary);
        assert.ok(getMedian((round) => round.rejectedMs) <= MAX_REJECTION_MS, summary);
      }),
  });
}

/** Returns the served requests per second, from the first request to the last response with status 200. */
function computeGoodput(outcomes: readonly TimedResponse[]): number {
  const served = outcomes.filter(({ status }) => status === 200);
  const start = Math.min(...outcomes.map(({ at, milliseconds }) => at - milliseconds));
  const end = Math.max(...served.map(({ at }) => at));
  return served.length / ((end - start) / 1_000);
}

/** Runs the service with campaigns in a storage. Calls the test with the service and the API key. */
async function withStorage(
  storage: OpenLoad['storage'],
  campaigns: number,
  test: (service: ServiceProcess, key: string) => Promise<void>,
): Promise<void> {
  const settings = { LOG_LEVEL: 'fatal', RATE_LIMIT_POINTS: '1000000000' };
  if (storage === 'memory') {
    await withProcess(settings, async (service) => {
      await createCampaigns(service.url, campaigns);
      await test(service, DEMO_API_KEY);
    });
    return;
  }
  await withDatabase(async (uri) => {
    const key = await withApplication(uri, async (app) => {
      const { workspaceId, key } = await createWorkspace(app);
      const fields = { ...createCampaignFields(), description: 'z'.repeat(1_000) };
      const limit = pLimit(50);
      const create = () => limit(() => app.campaigns.create({ workspaceId }, fields));
      await Promise.all(Array.from({ length: campaigns }, create));
      return key;
    });
    await withProcess({ ...settings, ...createMongodbSettings(uri) }, (service) => test(service, key));
  });
}

/** Runs a load, and measures it after its ramp-up. */
async function measure(
  { child }: ServiceProcess,
  load: (milliseconds: number) => Promise<TimedResponse[]>,
): Promise<Measurement> {
  const { cpuSeconds } = usageOf(child.pid as number);
  const loading = load(RAMP_UP_DURATION_MS + MEASUREMENT_DURATION_MS);
  await delay(RAMP_UP_DURATION_MS);
  const [from, cpuFrom] = [performance.now(), cpuSeconds()];
  await delay(MEASUREMENT_DURATION_MS);
  const [to, cpuTo] = [performance.now(), cpuSeconds()];
  const responses = await loading;
  const served = responses.filter(({ status, at }) => status === 200 && at >= from && at < to).length;
  return { served, seconds: (to - from) / 1_000, cpuSeconds: cpuTo - cpuFrom, responses };
}

async function withCampaigns(test: (service: ServiceProcess) => Promise<void>): Promise<void> {
  await withProcess({ LOG_LEVEL: 'warn', RATE_LIMIT_POINTS: '1000000000', ...SMALL_HEAP }, async (service) => {
    await createCampaigns(service.url, CAMPAIGN_COUNT);
    await test(service);
  });
}

async function createCampaigns(url: string, count: number): Promise<void> {
  const creators = await ConcurrentClients.open(url, CREATOR_COUNT);
  for (let created = 0; created < count; created += CREATOR_COUNT) {
    const responses = await creators.sendOnAll(requestBytes('POST', '/campaigns', CAMPAIGN));
    assert.deepEqual(getStatuses(responses), [201]);
  }
  creators.close();
}

/** Requests `/healthz` and `/readyz` alternately until `stop` is called. */
function startProbes(url: string) {
  const responses: TimedResponse[] = [];
  let isStopped = false;
  const probing = (async () => {
    const one = await ConcurrentClients.open(url, 1);
    for (let i = 0; !isStopped; i++)
      responses.push(...(await one.sendOnAll(requestBytes('GET', i % 2 ? '/healthz' : '/readyz'))));
    one.close();
  })();
  return {
    async stop(): Promise<readonly TimedResponse[]> {
      isStopped = true;
      await probing;
      return responses;
    },
  };
}

const addUp = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
const getServedPerCpuSecond = (measurements: readonly Measurement[]) =>
  addUp(measurements.map(({ served }) => served)) / addUp(measurements.map(({ cpuSeconds }) => cpuSeconds));
type Timed = Pick<TimedResponse, 'status' | 'milliseconds'>;
const getStatuses = (responses: readonly Timed[]) => [...new Set(responses.map(({ status }) => status))].sort();
const isRejected = ({ status }: Timed) => status === 429;
const getMilliseconds = (responses: readonly Timed[]) => responses.map(({ milliseconds }) => milliseconds);
