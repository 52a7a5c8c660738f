import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from '../../core/application.ts';
import { type LoadResponse, send } from '../support/load.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabaseName } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withProcess } from '../support/process.ts';
import { withReplicaSet } from '../support/replica-set.ts';
import { isLong, quickOrLong } from '../support/scale.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** In a long run, this is long enough for a write to fail. */
const LOCK_DURATION_MS = quickOrLong(1_500, 12_000);
const READ_TIMEOUT_MS = 2_000;
const READ_INTERVAL_MS = 50;
const SHUTDOWN_TIMEOUT_MS = 6_000;

/** A MongoDB that a test can lock. While it is locked, it serves reads, and writes wait. */
interface LockableDatabase {
  readonly uri: string;
  lock(): Promise<unknown>;
  unlock(): Promise<unknown>;
}

function withLockableDatabase(test: (database: LockableDatabase) => Promise<void>): Promise<void> {
  return withReplicaSet(1, ({ uri }) =>
    withMongoClient(uri, (client) =>
      test({
        uri: withDatabaseName(uri, 'advocacy'),
        lock: () => client.db('admin').command({ fsync: 1, lock: true }),
        unlock: () => client.db('admin').command({ fsyncUnlock: 1 }),
      }),
    ),
  );
}

/** Creates a workspace with a tag and a number of unused keys. */
async function createRecords(app: Application, keyCount: number) {
  const { workspaceId } = await createWorkspace(app);
  const tag = await app.tags.create(workspaceId, { name: 'Launch' });
  const secrets: string[] = [];
  for (let i = 0; i < keyCount; i++) secrets.push((await app.apiKeys.create(workspaceId, {})).secret);
  return { workspaceId, tag, secrets };
}

/** Returns the time of the last use of each key, by the last four characters of the key. */
async function getLastUses(app: Application, workspaceId: string): Promise<Map<string, string | null>> {
  const { items } = await app.apiKeys.list(workspaceId, { includeEnded: false, page: 1, pageSize: 100 });
  return new Map(items.map(({ lastFour, lastUsedAt }) => [lastFour, lastUsedAt]));
}

function assertServed({ status, milliseconds, text }: LoadResponse): void {
  assert.equal(status, 200, text);
  assert.ok(milliseconds < READ_TIMEOUT_MS, `it took ${milliseconds} ms`);
}

suite('a service whose database accepts no writes', {
  'serves reads at once, stays ready, and stores the last use of each key when the database accepts writes again': () =>
    withLockableDatabase(({ uri, lock, unlock }) =>
      withApplication(uri, async (app) => {
        const { workspaceId, tag, secrets } = await createRecords(app, 3);
        await withProcess({ ...createMongodbSettings(uri), LOG_LEVEL: 'warn' }, async ({ url, output }) => {
          await waitUntil(async () => (await send(url, { path: '/readyz' })).status === 200);
          await lock();
          const [key = '', ...others] = secrets;
          const renameRequest = { method: 'PATCH', path: `/tags/${tag.id}`, key, body: { name: 'Release' } };
          const writing = send(url, renameRequest);
          const lockedAt = performance.now();
          while (performance.now() - lockedAt < LOCK_DURATION_MS) {
            for (const path of ['/campaigns', '/readyz']) assertServed(await send(url, { path, key }));
            await delay(READ_INTERVAL_MS);
          }
          if (isLong) assert.equal((await writing).status, 500);
          for (const other of others) assertServed(await send(url, { path: '/campaigns', key: other }));
          assertServed(await send(url, { path: '/readyz' }));
          // No log message (`msg`) reports an outage. Only the `err` of a failed write says that MongoDB is
          // unavailable.
          assert.doesNotMatch(output.stderr, /"msg":"[^"]*is unavailable/);

          await unlock();
          await waitUntil(async () => {
            for (const secret of secrets) assertServed(await send(url, { path: '/campaigns', key: secret }));
            const uses = await getLastUses(app, workspaceId);
            return secrets.every((secret) => uses.get(secret.slice(-4)) !== null);
          });
        });
      }),
    ),

  'can start, serve reads and stop': () =>
    withLockableDatabase(async ({ uri, lock, unlock }) => {
      const { key } = await withApplication(uri, createWorkspace);
      await lock();
      await withProcess(createMongodbSettings(uri), async ({ url, child, output, waitForExit }) => {
        assertServed(await send(url, { path: '/campaigns', key }));
        assertServed(await send(url, { path: '/readyz' }));
        const stoppedAt = performance.now();
        child.kill('SIGTERM');
        assert.equal(await waitForExit(), 0);
        const milliseconds = performance.now() - stoppedAt;
        assert.ok(milliseconds < SHUTDOWN_TIMEOUT_MS, `the shutdown took ${milliseconds} ms`);
        assert.doesNotMatch(output.stderr, /unhandled/i);
        await unlock();
      });
    }),
});
