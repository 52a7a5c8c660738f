import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { assertFailure } from '../support/ledger.ts';
import { send } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { type ServiceProcess, withProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { scale } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const ALONE_MS = scale(0, 30_000);
/** A quick run may be one of many things that the machine does. */
const GIVEN_UP_MS = scale(20_000, 11_000);
const AT_ONCE_MS = scale(5_000, 1_000);

/** What it logged of its own accord: no request. */
function linesOf({ printed }: ServiceProcess): string[] {
  return printed.stderr.split('\n').filter((line) => line !== '' && !line.includes('"requestId"'));
}

suite('a service that is started before its database and its Redis', {
  'listens, waits quietly, fails requests in time and then at once, and comes up by itself': async () => {
    const [set, redis] = await Promise.all([startReplicaSet(), startRedis()]);
    const mongod = set.members[0] as ServerProcess;
    try {
      const uri = inDatabase(set.uri, 'advocacy');
      const { key } = await withUseCases(uri, newWorkspace);
      await Promise.all([mongod.kill(), redis.kill()]);
      const settings = { ...onMongodb(uri), RATE_LIMITER: 'redis', REDIS_URL: redis.url };
      const startedAt = performance.now();
      await withProcess(settings, async (service) => {
        const ask = async (path: string) => (await send(service.url, { path, key })).status;
        assert.equal(await ask('/healthz'), 200);
        assert.equal(await ask('/readyz'), 503);
        for (const withinMs of [GIVEN_UP_MS, AT_ONCE_MS]) {
          const sent = await send(service.url, { path: '/campaigns', key });
          assertFailure(sent);
          assert.ok(sent.milliseconds < withinMs, `it took ${sent.milliseconds} ms`);
        }
        await delay(ALONE_MS);
        assert.equal(await ask('/readyz'), 503);
        const lines = linesOf(service);
        assert.ok(lines.length <= 1 + (performance.now() - startedAt) / 1_000, lines.join('\n'));
        assert.match(lines.join('\n'), /MongoDB cannot be reached/);
        assert.match(lines.join('\n'), /Redis is away/);

        await Promise.all([mongod.start(), redis.start()]);
        await until(async () => (await ask('/readyz')) === 200);
        await until(() => /MongoDB is back/.test(service.printed.stderr));
        await until(() => /Redis is back/.test(service.printed.stderr));
        assert.equal(await ask('/campaigns'), 200);
      });
    } finally {
      await Promise.all([set.stop(), redis.stop()]);
    }
  },
});
