import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation } from '../../adapters/api/operation.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { each } from '../support/each.ts';
import { assertInternalError } from '../support/ledger.ts';
import { type LoadResponse, send } from '../support/load.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { allOperations, newValidCall, postOperations, successStatusOf } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { withReplicaSet } from '../support/replica-set.ts';
import { quickOrLong } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The quick run may share the machine with other programs, so its limit is higher. */
const MAX_RESPONSE_MS = quickOrLong(20_000, 11_000);
const MAX_FAST_RESPONSE_MS = quickOrLong(5_000, 1_000);
const UNKNOWN_KEY = createApiKeySecret('0'.repeat(32));

suite('a database outage', {
  'makes all operations fail with one error without internal details, first within a timeout and then at once': () =>
    withReplicaSet(1, async (set) => {
      const server = set.members[0] as ServerProcess;
      const tenant = await withApplication(set.uri, (app) => createTenant({ app }, 'tenant'));
      await withProcess(createMongodbSettings(set.uri), async ({ url }) => {
        const call = (operation: Operation, headers: Readonly<Record<string, string>> = {}) => {
          const { path, body } = newValidCall(operation, tenant);
          return send(url, { method: operation.method, path, key: tenant.key, headers, ...(body && { body }) });
        };
        const attempts: [string, () => Promise<LoadResponse>][] = [
          ...allOperations.map(
            ([id, operation]) => [id, () => call(operation)] as [string, () => Promise<LoadResponse>],
          ),
          ...postOperations.map(
            ([id, operation]) =>
              [`${id} with an Idempotency-Key`, () => call(operation, { 'Idempotency-Key': id })] as [
                string,
                () => Promise<LoadResponse>,
              ],
          ),
          ['an unknown key', () => send(url, { path: '/campaigns', key: UNKNOWN_KEY })],
        ];
        const assertAllFail = async (maxMs: number) => {
          const responses = await Promise.all(
            attempts.map(async ([name, attempt]) => [name, await attempt()] as const),
          );
          await each(responses, (it) => {
            assertInternalError(it);
            assert.ok(it.milliseconds < maxMs, `it took ${it.milliseconds} ms`);
          });
        };

        await waitUntil(async () => (await send(url, { path: '/campaigns', key: tenant.key })).status === 200);
        await server.kill();
        await assertAllFail(MAX_RESPONSE_MS);
        // When the database has been failing for ten seconds, requests fail at once, unless they share the look-up of
        // their key with an earlier request. Of the requests above, some waited in the queue for up to five seconds, so
        // their look-ups end up to five seconds after their responses.
        await delay(6_000);
        await assertAllFail(MAX_FAST_RESPONSE_MS);
        assert.equal((await send(url, { path: '/healthz' })).status, 200);
        assert.equal((await send(url, { path: '/readyz' })).status, 503);

        await server.start();
        await waitUntil(async () => (await send(url, { path: '/readyz' })).status === 200);
        // Deletions are last, because the deletion of a member revokes a key that another operation rotates.
        const isDeletion = ([, { method }]: (typeof allOperations)[number]) => Number(method === 'DELETE');
        const deletionsLast = allOperations.toSorted((a, b) => isDeletion(a) - isDeletion(b));
        await each(deletionsLast, async (operation) => {
          const { status, text } = await call(operation);
          assert.equal(status, successStatusOf(operation), text);
        });
      });
    }),
});
