import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { assertInternalError } from '../support/ledger.ts';
import { send } from '../support/load.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, withProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { quickOrLong } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const OUTAGE_DURATION_MS = quickOrLong(0, 30_000);
/** The quick run may share the machine with other programs, so its limit is higher. */
const MAX_RESPONSE_MS = quickOrLong(20_000, 11_000);
const MAX_FAST_RESPONSE_MS = quickOrLong(5_000, 1_000);

/** Returns the lines of the log that do not belong to a request. */
function getLogLines({ output }: ServiceProcess): string[] {
  return output.stderr.split('\n').filter((line) => line !== '' && !line.includes('"requestId"'));
}

suite('a service that is started before its database and its Redis', {
  'listens, logs little, fails requests first within a timeout and then at once, and recovers automatically':
    async () => {
      const [set, redis] = await Promise.all([startReplicaSet(), startRedis()]);
      const database = set.members[0] as ServerProcess;
      try {
        const { key } = await withApplication(set.uri, createWorkspace);
        await Promise.all([database.kill(), redis.kill()]);
        const settings = { ...createMongodbSettings(set.uri), RATE_LIMITER: 'redis', REDIS_URL: redis.url };
        const startedAt = performance.now();
        await withProcess(settings, async (service) => {
          const getStatus = async (path: string) => (await send(service.url, { path, key })).status;
          assert.equal(await getStatus('/healthz'), 200);
          assert.equal(await getStatus('/readyz'), 503);
          for (const maxMs of [MAX_RESPONSE_MS, MAX_FAST_RESPONSE_MS]) {
            const sent = await send(service.url, { path: '/campaigns', key });
            assertInternalError(sent);
            assert.ok(sent.milliseconds < maxMs, `it took ${sent.milliseconds} ms`);
          }
          await delay(OUTAGE_DURATION_MS);
          assert.equal(await getStatus('/readyz'), 503);
          const lines = getLogLines(service);
          assert.ok(lines.length <= 1 + (performance.now() - startedAt) / 1_000, lines.join('\n'));
          assert.match(lines.join('\n'), /MongoDB is unavailable/);
          assert.match(lines.join('\n'), /Redis is unavailable/);

          await Promise.all([database.start(), redis.start()]);
          await waitUntil(async () => (await getStatus('/readyz')) === 200);
          await waitUntil(() => /MongoDB is available again/.test(service.output.stderr));
          await waitUntil(() => /Redis is available again/.test(service.output.stderr));
          assert.equal(await getStatus('/campaigns'), 200);
        });
      } finally {
        await Promise.all([set.stop(), redis.stop()]);
      }
    },
});
