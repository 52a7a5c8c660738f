import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { STORAGE_TIMEOUT_MS } from '../../adapters/persistence/storage-timeout.ts';
import { assertInternalError, Ledger } from '../support/ledger.ts';
import { findLongestGap, type Load, type LoadResponse, startLoad } from '../support/load.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withProcess } from '../support/process.ts';
import { type ReplicaSet, withReplicaSet } from '../support/replica-set.ts';
import { quickOrLong } from '../support/scale.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const WRITER_COUNT = quickOrLong(4, 32);
const KILL_COUNT = quickOrLong(1, 3);
const KILL_INTERVAL_MS = quickOrLong(500, 4_000);
const MAX_ERROR_RATIO = quickOrLong(0.1, 0.01);
/** The quick run may share the machine with other programs, so its limit is higher. */
const MAX_GAP_MS = quickOrLong(30_000, 10_000);
/**
 * The maximum time between the first write that MongoDB itself acknowledges after a failover and the first one of the
 * service.
 */
const MAX_RECOVERY_MS = quickOrLong(10_000, 3_000);
/**
 * The longest outage of MongoDB during which requests wait for its end. It is shorter than `STORAGE_TIMEOUT_MS`, the
 * limit of a request.
 */
const MAX_WAITED_OUTAGE_MS = STORAGE_TIMEOUT_MS - 3_000;

suite('a replica set of three whose primary is killed during many writes', {
  'loses no acknowledged write, stores none twice, fails few requests, and accepts writes again in time': () =>
    withMongodbWriter(async (set, mongodbLoad) => {
      const { workspaceId, key } = await withApplication(set.uri, createWorkspace);
      await withProcess(createMongodbSettings(set.uri), async ({ url }) => {
        const ledger = new Ledger(() => url, key);
        const load = startLoad(WRITER_COUNT, (client, i) => ledger.write(client, i));
        for (let kill = 0; kill < KILL_COUNT; kill++) {
          await delay(KILL_INTERVAL_MS);
          const primary = await set.findPrimary();
          const { size } = ledger;
          await primary.kill();
          await waitUntil(() => ledger.size > size + 2 * WRITER_COUNT);
          await primary.start();
          await set.waitUntilHealthy();
        }
        await delay(KILL_INTERVAL_MS);
        await load.stop();
        await mongodbLoad.stop();

        // A retry gets 409 while the first request with its Idempotency-Key is still in progress.
        const failures = load.responses.filter(({ status }) => status !== 201 && status !== 409);
        for (const failure of failures) assertInternalError(failure);
        const gap = findLongestGap(load.responses);
        const mongodbGap = findLongestGap(mongodbLoad.responses);
        const summary = `${gap} ms without a success, ${mongodbGap} ms of MongoDB itself`;
        // On a busy machine, MongoDB itself sometimes needs over ten seconds until it accepts writes again.
        assert.ok(gap <= Math.max(MAX_GAP_MS, mongodbGap + MAX_RECOVERY_MS), summary);
        if (mongodbGap <= MAX_WAITED_OUTAGE_MS) {
          const maxFailureCount = load.responses.length * MAX_ERROR_RATIO;
          assert.ok(
            failures.length <= maxFailureCount,
            `${failures.length} of ${load.responses.length} failed, ${summary}`,
          );
        }
        await ledger.assertStored(set.uri, workspaceId);
      });
    }),
});

/**
 * Passes a replica set of three servers to a test, with a client that writes without the service, one write after
 * another.
 */
function withMongodbWriter(test: (set: ReplicaSet, load: Load) => Promise<void>): Promise<void> {
  return withReplicaSet(3, (set) =>
    withMongoClient(set.uri, async (client) => {
      const collection = client.db('test').collection('writes', { writeConcern: { w: 'majority' } });
      await test(
        set,
        startLoad(1, () => writeTo(collection)),
      );
    }),
  );
}

async function writeTo(collection: Collection): Promise<LoadResponse> {
  const sentAt = performance.now();
  const [status, text] = await collection.insertOne({}).then(
    () => [201, ''] as const,
    (error) => [0, String(error)] as const,
  );
  const milliseconds = performance.now() - sentAt;
  await delay(100);
  return { sentAt, milliseconds, status, text, headers: {} };
}
