import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation } from '../../adapters/api/operation.ts';
import { apiKeySecret } from '../../core/access/api-key.ts';
import { each } from '../support/each.ts';
import { assertFailure } from '../support/ledger.ts';
import { type Sent, send } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { callOf, everyOperation, posts, successOf } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { scale } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { until } from '../support/until.ts';

/** A quick run may be one of many things that the machine does. */
const ENDS_WITHIN_MS = scale(20_000, 11_000);
const AT_ONCE_MS = scale(5_000, 1_000);
const UNKNOWN_KEY = apiKeySecret('0'.repeat(32));

suite('a database that is gone', {
  'makes every operation fail alike, in time and then at once, with an error that tells nothing of the inside':
    async () => {
      const set = await startReplicaSet();
      const server = set.members[0] as ServerProcess;
      try {
        const uri = inDatabase(set.uri, 'advocacy');
        const tenant = await withUseCases(uri, (app) => createTenant({ app }, 'tenant'));
        await withProcess(onMongodb(uri), async ({ url }) => {
          const call = (operation: Operation, headers: Readonly<Record<string, string>> = {}) => {
            const { path, body } = callOf(operation, tenant);
            return send(url, { method: operation.method, path, key: tenant.key, headers, ...(body && { body }) });
          };
          const attempts: [string, () => Promise<Sent>][] = [
            ...everyOperation.map(([id, operation]) => [id, () => call(operation)] as [string, () => Promise<Sent>]),
            ...posts.map(
              ([id, operation]) =>
                [`${id} once`, () => call(operation, { 'Idempotency-Key': id })] as [string, () => Promise<Sent>],
            ),
            ['an unknown key', () => send(url, { path: '/campaigns', key: UNKNOWN_KEY })],
          ];
          const failAll = async (withinMs: number) => {
            const sent = await Promise.all(attempts.map(async ([name, attempt]) => [name, await attempt()] as const));
            await each(sent, (it) => {
              assertFailure(it);
              assert.ok(it.milliseconds < withinMs, `it took ${it.milliseconds} ms`);
            });
          };

          await until(async () => (await send(url, { path: '/campaigns', key: tenant.key })).status === 200);
          await server.kill();
          await failAll(ENDS_WITHIN_MS);
          // A request ends after ten seconds, a moment before nothing has succeeded for ten seconds.
          await delay(1_000);
          await failAll(AT_ONCE_MS);
          assert.equal((await send(url, { path: '/healthz' })).status, 200);
          assert.equal((await send(url, { path: '/readyz' })).status, 503);

          await server.start();
          await until(async () => (await send(url, { path: '/readyz' })).status === 200);
          await each(everyOperation, async (operation) => {
            const { status, text } = await call(operation);
            assert.equal(status, successOf(operation), text);
          });
        });
      } finally {
        await set.stop();
      }
    },
});
