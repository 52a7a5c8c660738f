import assert from 'node:assert/strict';
import { assertInternalError } from '../support/ledger.ts';
import { send } from '../support/load.ts';
import { withMongodbProxy } from '../support/mongodb-proxy.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withProcess } from '../support/process.ts';
import { quickOrLong } from '../support/scale.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/**
 * Shorter than the timeout of one database operation. But together, the operations of a request exceed the timeout of
 * the request.
 */
const DELAY_MS = 1_500;
const MAX_RESPONSE_MS = quickOrLong(15_000, 11_000);

suite('a database whose responses are slow', {
  'delays no request much longer than ten seconds, and lets a failed POST be retried safely with its Idempotency-Key':
    () =>
      withMongodbProxy(async (proxy, uri) => {
        const { key } = await withApplication(uri, createWorkspace);
        await withProcess(createMongodbSettings(proxy.uri), async ({ url }) => {
          proxy.delayMs = DELAY_MS;
          const headers = { 'Idempotency-Key': 'once' };
          const post = () => send(url, { method: 'POST', path: '/tags', key, headers, body: { name: 'slow' } });
          const rejected = await post();
          assertInternalError(rejected);
          const { milliseconds } = rejected;
          assert.ok(milliseconds < MAX_RESPONSE_MS, `it took ${milliseconds} ms`);

          proxy.delayMs = 0;
          await waitUntil(async () => (await post()).status === 201);
          assert.equal((await post()).headers['idempotency-replayed'], 'true');
        });
      }),
});
