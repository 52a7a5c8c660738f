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
import { type ServiceProcess, withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/request.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createCampaignFields, createWorkspace } from '../support/tenants.ts';

/** Each round measures the capacity and then the overload, so that other programs on the machine affect both. */
const MIN_ROUND_COUNT = 3;
const MAX_ROUND_COUNT = 12;
const CAPACITY_CLIENT_COUNT = 16;
const CAPACITY_DURATION_MS = 2_000;
const LOAD_FACTOR = 3;
const OVERLOAD_DURATION_MS = 6_000;
const RECOVERY_DURATION_MS = 2_000;
const CLIENT_TIMEOUT_MS = 2_000;
/** The promises, which the median of the rounds must keep. */
const MIN_GOODPUT_RATIO = 0.75;
const MAX_UNANSWERED_RATIO = 0.05;
const MAX_REJECTION_MS = 250;
const MAX_PROBE_MS = 1_000;
/**
 * The number of connections that send nothing, and the maximum time until a new connection after them gets a response.
 * If requests began for ten milliseconds after each accepted connection, it would take fifteen seconds.
 */
const SILENT_CONNECTION_COUNT = 1_500;
const ACCEPT_TIMEOUT_MS = 7_000;

/** The numbers of campaigns that a search reads, which determine its cost. */
const campaignCounts = { 'of 5 ms in memory': 160, 'of 50 ms in memory': 1_600, 'of 25 ms on MongoDB': 2_000 };

for (const [name, campaignCount] of Object.entries(campaignCounts)) {
  suite(`a service that gets three times as many searches ${name} as it can serve`, {
    [`serves most of its capacity, responds to almost all requests, rejects at once, and recovers (${name})`]: () =>
      withCampaigns(name.endsWith('MongoDB'), campaignCount, async ({ url }, key) => {
        const clients = new TimeoutClients(url, CLIENT_TIMEOUT_MS);
        const search = (i: number) => searchRequest(i, key);
        await clients.sendInLoop(search, CAPACITY_CLIENT_COUNT, CAPACITY_DURATION_MS);
        const rounds: Round[] = [];
        while (rounds.length < MIN_ROUND_COUNT || (!keepsPromises(rounds) && rounds.length < MAX_ROUND_COUNT)) {
          const baseline = await clients.sendInLoop(search, CAPACITY_CLIENT_COUNT, CAPACITY_DURATION_MS);
          const capacity = computeGoodput(baseline);
          const probing = startProbes(url);
          const outcomes = await clients.sendAtRate(search, LOAD_FACTOR * capacity, OVERLOAD_DURATION_MS);
          const probes = await probing.stop();
          assert.deepEqual(getStatuses(probes), [200]);
          assert.ok(getStatuses(outcomes).every((status) => [0, 200, 429].includes(status)));
          await delay(RECOVERY_DURATION_MS);
          const after = await clients.sendInLoop(search, CAPACITY_CLIENT_COUNT, 1);
          rounds.push({
            goodputRatio: computeGoodput(outcomes) / capacity,
            unansweredRatio: outcomes.filter(({ status }) => status === 0).length / outcomes.length,
            rejectionMs: quantile(getMilliseconds(outcomes.filter(({ status }) => status === 429)), 0.9),
            probeMs: quantile(getMilliseconds(probes), 0.99),
            failedAfterwards: after.filter(({ status }) => status !== 200).length,
          });
        }
        clients.close();
        assert.ok(keepsPromises(rounds), JSON.stringify(rounds));
      }),
  });
}

interface Round {
  readonly goodputRatio: number;
  readonly unansweredRatio: number;
  readonly rejectionMs: number;
  readonly probeMs: number;
  readonly failedAfterwards: number;
}

function keepsPromises(rounds: readonly Round[]): boolean {
  const getMedian = (name: keyof Round) =>
    quantile(
      rounds.map((round) => round[name]),
      0.5,
    );
  return (
    getMedian('goodputRatio') >= MIN_GOODPUT_RATIO &&
    getMedian('unansweredRatio') <= MAX_UNANSWERED_RATIO &&
    getMedian('rejectionMs') <= MAX_REJECTION_MS &&
    getMedian('probeMs') <= MAX_PROBE_MS &&
    getMedian('failedAfterwards') === 0
  );
}

suite('a service that is busy', {
  'accepts new connections': () =>
    withCampaigns(false, 60, async ({ url }) => {
      const few = await ConcurrentClients.open(url, 32);
      const searching = few.sendInLoop(requestBytes('GET', '/campaigns?search=zq'), ACCEPT_TIMEOUT_MS);
      const silent = await ConcurrentClients.open(url, SILENT_CONNECTION_COUNT);
      const one = await ConcurrentClients.open(url, 1);
      const [probe] = await one.sendOnAll(requestBytes('GET', '/healthz'));
      assert.ok(probe && probe.status === 200 && probe.milliseconds < ACCEPT_TIMEOUT_MS, JSON.stringify(probe));
      await searching;
      for (const clients of [few, silent, one]) clients.close();
    }),
});

/** Returns the served requests per second, from the first request to the last response with status 200. */
function computeGoodput(outcomes: readonly TimedResponse[]): number {
  const served = outcomes.filter(({ status }) => status === 200);
  const start = Math.min(...outcomes.map(({ at, milliseconds }) => at - milliseconds));
  const end = Math.max(...served.map(({ at }) => at));
  return served.length / ((end - start) / 1_000);
}

/** Runs the service with campaigns in memory or on MongoDB. Calls the test with the service and the API key. */
async function withCampaigns(
  isOnMongodb: boolean,
  count: number,
  test: (service: ServiceProcess, key: string) => Promise<void>,
): Promise<void> {
  const settings = { LOG_LEVEL: 'fatal', RATE_LIMIT_POINTS: '1000000000' };
  if (!isOnMongodb) {
    const body = JSON.stringify({ ...createCampaignBody(), description: 'z'.repeat(5_000) });
    return withProcess(settings, async (service) => {
      const creators = await ConcurrentClients.open(service.url, 20);
      for (let created = 0; created < count; created += 20) {
        assert.deepEqual(getStatuses(await creators.sendOnAll(requestBytes('POST', '/campaigns', body))), [201]);
      }
      creators.close();
      await test(service, DEMO_API_KEY);
    });
  }
  await withDatabase(async (uri) => {
    const key = await withApplication(uri, async (app) => {
      const { workspaceId, key } = await createWorkspace(app);
      const fields = { ...createCampaignFields(), description: 'z'.repeat(1_000) };
      const limit = pLimit(50);
      const create = () => limit(() => app.campaigns.create({ workspaceId }, fields));
      await Promise.all(Array.from({ length: count }, create));
      return key;
    });
    await withProcess({ ...settings, ...createMongodbSettings(uri) }, (service) => test(service, key));
  });
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

const getStatuses = (responses: readonly TimedResponse[]) => [...new Set(responses.map(({ status }) => status))];
const getMilliseconds = (responses: readonly TimedResponse[]) => responses.map(({ milliseconds }) => milliseconds);
