import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { usageOf } from '../bench/usage.ts';
import { assertFailure, Ledger } from '../support/ledger.ts';
import { quantile, type Sent, send, startLoad } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { type ServiceProcess, SMALL_HEAP, withProcess } from '../support/process.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { scale } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';

const WRITERS = scale(8, 32);
/** How often a request comes that does not wait for the one before it. */
const EVERY_MS = scale(50, 20);
const PAUSE_MS = 200;
const ASKS_EVERY_MS = 50;
const BEFORE_MS = scale(500, 3_000);
const FROZEN_MS = scale(2_000, 8_000);
const AFTER_MS = scale(5_000, 8_000);
const ENDS_WITHIN_MS = scale(20_000, 11_000);
const HEALTH_WITHIN_MS = scale(1_000, 100);
const RECOVERS_WITHIN_MS = scale(20_000, 3_000);
const MOST_MORE_MIB = 150;

/** Requests that come all the time, whatever becomes of those before. */
function startArrivals(everyMs: number, request: () => Promise<Sent>): { end(): Promise<Sent[]> } {
  const sent: Promise<Sent>[] = [];
  const timer = setInterval(() => sent.push(request()), everyMs);
  return {
    end() {
      clearInterval(timer);
      return Promise.all(sent);
    },
  };
}

/** Runs a service while a test works with it, and one without a database beside it: how slow the machine itself is. */
function onBoth(
  settings: Readonly<Record<string, string>>,
  test: (service: ServiceProcess, beside: ServiceProcess) => Promise<void>,
): Promise<void> {
  return withProcess(settings, (service) => withProcess({}, (beside) => test(service, beside)));
}

const millisecondsOf = (sent: readonly Sent[]) => sent.map(({ milliseconds }) => milliseconds);
const endOf = ({ at, milliseconds }: Sent) => at + milliseconds;

suite('a database that is frozen under load', {
  'keeps no request for long, nor the health check at all, and is used again soon after it goes on': async () => {
    const set = await startReplicaSet();
    const server = set.members[0] as ServerProcess;
    try {
      const uri = inDatabase(set.uri, 'advocacy');
      const { workspaceId, key } = await withUseCases(uri, newWorkspace);
      await onBoth({ ...onMongodb(uri), ...SMALL_HEAP }, async ({ url, child }, beside) => {
        const ledger = new Ledger(() => url, key);
        const writing = startLoad(WRITERS, async (client, i) => {
          await delay(PAUSE_MS);
          return ledger.write(client, i);
        });
        const reading = startArrivals(EVERY_MS, () => send(url, { path: '/campaigns', key }));
        const asking = startArrivals(ASKS_EVERY_MS, () => send(url, { path: '/healthz' }));
        const askingBeside = startArrivals(ASKS_EVERY_MS, () => send(beside.url, { path: '/healthz' }));
        await delay(BEFORE_MS);
        const { residentMiB } = usageOf(child.pid as number);
        const before = residentMiB() || 0;
        let most = before;
        const measuring = setInterval(() => (most = Math.max(most, residentMiB() || 0)), 100);

        server.freeze();
        const frozenAt = performance.now();
        await delay(FROZEN_MS);
        server.thaw();
        const thawedAt = performance.now();
        await delay(AFTER_MS);
        clearInterval(measuring);
        await writing.end();
        const reads = await reading.end();
        const health = await asking.end();
        const healthBeside = await askingBeside.end();
        const lag = Math.max(...millisecondsOf([...health, ...healthBeside]));

        const all = [...writing.sent, ...reads];
        // What is sent again under its key may find that it is still being served.
        const failures = all.filter(({ status }) => ![200, 201, 409].includes(status));
        for (const failure of failures) assertFailure(failure);
        const longest = Math.max(...millisecondsOf(all));
        assert.ok(longest <= ENDS_WITHIN_MS + lag, `a request took ${longest} ms`);
        const p99 = (asked: readonly Sent[]) => {
          const meanwhile = asked.filter(({ at }) => at > frozenAt && at < thawedAt);
          return quantile(millisecondsOf(meanwhile), 0.99);
        };
        const [took, usual] = [p99(health), p99(healthBeside)];
        assert.ok(health.every(({ status }) => status === 200));
        assert.ok(took < HEALTH_WITHIN_MS + usual, `/healthz took ${took} ms, and ${usual} ms beside it`);
        const isAfter = (sent: Sent) => endOf(sent) > thawedAt;
        const recovered = Math.min(...all.filter((sent) => isAfter(sent) && sent.status < 300).map(endOf)) - thawedAt;
        assert.ok(recovered <= RECOVERS_WITHIN_MS + lag, `it recovered after ${recovered} ms`);
        const late = failures.filter(({ at }) => at > thawedAt + RECOVERS_WITHIN_MS + lag);
        assert.deepEqual(late, []);
        assert.ok(most - before <= MOST_MORE_MIB, `${most - before} MiB more`);
        await ledger.check(uri, workspaceId);
      });
    } finally {
      server.thaw();
      await set.stop();
    }
  },
});
