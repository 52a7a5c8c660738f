import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { assertInternalError, Ledger } from '../support/ledger.ts';
import { type LoadResponse, quantile, send, startLoad } from '../support/load.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, SMALL_HEAP, withProcess } from '../support/process.ts';
import { withReplicaSet } from '../support/replica-set.ts';
import { quickOrLong } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { usageOf } from '../support/usage.ts';

const WRITER_COUNT = quickOrLong(8, 32);
/** The interval of reads, which do not wait for each other. */
const READ_INTERVAL_MS = quickOrLong(50, 20);
const WRITE_INTERVAL_MS = 200;
const PROBE_INTERVAL_MS = 50;
const WARM_UP_DURATION_MS = quickOrLong(500, 3_000);
const FREEZE_DURATION_MS = quickOrLong(2_000, 8_000);
const RECOVERY_DURATION_MS = quickOrLong(5_000, 8_000);
const MAX_RESPONSE_MS = quickOrLong(20_000, 11_000);
const MAX_HEALTH_RESPONSE_MS = quickOrLong(1_000, 100);
const MAX_RECOVERY_MS = quickOrLong(20_000, 3_000);
const MAX_MEMORY_GROWTH_MIB = 150;

/** Sends a request at each interval until `stop` is called, without waiting for the responses to earlier requests. */
function startRequests(intervalMs: number, request: () => Promise<LoadResponse>): { stop(): Promise<LoadResponse[]> } {
  const responses: Promise<LoadResponse>[] = [];
  const timer = setInterval(() => responses.push(request()), intervalMs);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(responses);
    },
  };
}

/**
 * Runs a service during a test, and a reference: a second service without a database, which shows how slow the machine
 * is.
 */
function withReference(
  settings: Readonly<Record<string, string>>,
  test: (service: ServiceProcess, reference: ServiceProcess) => Promise<void>,
): Promise<void> {
  return withProcess(settings, (service) => withProcess({}, (reference) => test(service, reference)));
}

const getMilliseconds = (sent: readonly LoadResponse[]) => sent.map(({ milliseconds }) => milliseconds);
const getEnd = ({ sentAt, milliseconds }: LoadResponse) => sentAt + milliseconds;

suite('a database that is frozen under load', {
  'delays no request for long, does not delay health checks, and is used again soon after it resumes': () =>
    withReplicaSet(1, async (set) => {
      const server = set.members[0] as ServerProcess;
      const { workspaceId, key } = await withApplication(set.uri, createWorkspace);
      await withReference({ ...createMongodbSettings(set.uri), ...SMALL_HEAP }, async ({ url, child }, reference) => {
        const ledger = new Ledger(() => url, key);
        const writing = startLoad(WRITER_COUNT, async (client, i) => {
          await delay(WRITE_INTERVAL_MS);
          return ledger.write(client, i);
        });
        const reading = startRequests(READ_INTERVAL_MS, () => send(url, { path: '/campaigns', key }));
        const probing = startRequests(PROBE_INTERVAL_MS, () => send(url, { path: '/healthz' }));
        const probingReference = startRequests(PROBE_INTERVAL_MS, () => send(reference.url, { path: '/healthz' }));
        await delay(WARM_UP_DURATION_MS);
        const { residentMiB } = usageOf(child.pid as number);
        const before = residentMiB() || 0;
        let peak = before;
        const measuring = setInterval(() => (peak = Math.max(peak, residentMiB() || 0)), 100);

        server.freeze();
        const frozenAt = performance.now();
        await delay(FREEZE_DURATION_MS);
        server.thaw();
        const thawedAt = performance.now();
        await delay(RECOVERY_DURATION_MS);
        clearInterval(measuring);
        await writing.stop();
        const reads = await reading.stop();
        const health = await probing.stop();
        const healthOfReference = await probingReference.stop();
        const lag = Math.max(...getMilliseconds([...health, ...healthOfReference]));

        const all = [...writing.responses, ...reads];
        // A retry gets 409 while the first request with its Idempotency-Key is still in progress.
        const failures = all.filter(({ status }) => ![200, 201, 409].includes(status));
        // On a slow machine, the service may shed new requests until it has served those that waited during the freeze.
        const isShed = (sent: LoadResponse) => sent.status === 429 && getEnd(sent) > thawedAt;
        for (const failure of failures.filter((sent) => !isShed(sent))) assertInternalError(failure);
        const longest = Math.max(...getMilliseconds(all));
        assert.ok(longest <= MAX_RESPONSE_MS + lag, `a request took ${longest} ms`);
        const getP99 = (responses: readonly LoadResponse[]) => {
          const duringFreeze = responses.filter(({ sentAt }) => sentAt > frozenAt && sentAt < thawedAt);
          return quantile(getMilliseconds(duringFreeze), 0.99);
        };
        const [p99, referenceP99] = [getP99(health), getP99(healthOfReference)];
        assert.ok(health.every(({ status }) => status === 200));
        assert.ok(
          p99 < MAX_HEALTH_RESPONSE_MS + referenceP99,
          `/healthz took ${p99} ms, and ${referenceP99} ms on the reference`,
        );
        const hasEndedAfterThaw = (sent: LoadResponse) => getEnd(sent) > thawedAt;
        const recovered =
          Math.min(...all.filter((sent) => hasEndedAfterThaw(sent) && sent.status < 300).map(getEnd)) - thawedAt;
        assert.ok(recovered <= MAX_RECOVERY_MS + lag, `it recovered after ${recovered} ms`);
        const late = failures.filter(({ sentAt }) => sentAt > thawedAt + MAX_RECOVERY_MS + lag);
        assert.deepEqual(late, []);
        assert.ok(peak - before <= MAX_MEMORY_GROWTH_MIB, `${peak - before} MiB more`);
        await ledger.assertStored(set.uri, workspaceId);
      });
    }),
});
