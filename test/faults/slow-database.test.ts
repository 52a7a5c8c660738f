import assert from 'node:assert/strict';
import { send } from '../support/load.ts';
import { mongod } from '../support/mongod.ts';
import { mongodbProxy } from '../support/mongodb-proxy.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { withProcess } from '../support/process.ts';
import { scale } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

/** Short enough that no single answer is taken for lost, and too long for all that one request asks. */
const DELAY_MS = 1_500;
const ENDS_WITHIN_MS = scale(15_000, 11_000);

suite('a database each of whose answers takes long', {
  'keeps no request longer than eleven seconds, and what it left undone is done once when it is sent again':
    async () => {
      const database = await mongod();
      const proxy = await mongodbProxy(database.uri);
      try {
        const { key } = await withUseCases(database.uri, newWorkspace);
        await withProcess(onMongodb(proxy.uri), async ({ url }) => {
          proxy.delayMs = DELAY_MS;
          const headers = { 'Idempotency-Key': 'once' };
          const post = () => send(url, { method: 'POST', path: '/tags', key, headers, body: { name: 'slow' } });
          const { status, text, milliseconds } = await post();
          assert.equal(status, 500, text);
          assert.ok(milliseconds < ENDS_WITHIN_MS, `it took ${milliseconds} ms`);

          proxy.delayMs = 0;
          await until(async () => (await post()).status === 201);
          assert.equal((await post()).headers['idempotency-replayed'], 'true');
        });
      } finally {
        await proxy.close();
        await database.stop();
      }
    },
});
