import assert from 'node:assert/strict';
import { type MongoClient, MongoError } from 'mongodb';
import { Batcher } from '../../adapters/mongodb/batching.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { TagRecord } from '../../adapters/persistence/tags.ts';
import { buildCampaign, buildTag, newId } from '../contract/samples.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const RECORD_COUNT = 60;

/** Creates a batcher, and the list of the batches that it sends. The test resolves or rejects each of them. */
function createBatcher() {
  const sentBatches: { readonly batch: readonly number[]; resolveBatch(): void; rejectBatch(): void }[] = [];
  const batcher = new Batcher<number, string>(
    (batch) =>
      new Promise((resolve, reject) => {
        sentBatches.push({
          batch,
          resolveBatch: () => resolve(batch.map((number) => `result ${number}`)),
          rejectBatch: () => reject(new Error(`rejected ${batch}`)),
        });
      }),
  );
  return { batcher, sentBatches };
}

const waitForEventLoop = () => new Promise((resolve) => setImmediate(resolve));

suite('batching', {
  'sends a request at once if no batch is in flight, and otherwise with the next batch': async () => {
    const { batcher, sentBatches } = createBatcher();
    const results = [1, 2, 3].map((number) => batcher.submit(number));
    assert.deepEqual(
      sentBatches.map(({ batch }) => batch),
      [[1]],
    );
    sentBatches[0]?.resolveBatch();
    await waitForEventLoop();
    sentBatches[1]?.resolveBatch();
    assert.deepEqual(await Promise.all(results), ['result 1', 'result 2', 'result 3']);
    assert.deepEqual(
      sentBatches.map(({ batch }) => batch),
      [[1], [2, 3]],
    );
  },

  'fails only the requests of the failed batch': async () => {
    const { batcher, sentBatches } = createBatcher();
    const results = [1, 2, 3].map((number) => batcher.submit(number));
    sentBatches[0]?.resolveBatch();
    await waitForEventLoop();
    const later = batcher.submit(4);
    sentBatches[1]?.rejectBatch();
    const settled = await Promise.allSettled(results);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    await waitForEventLoop();
    sentBatches[2]?.resolveBatch();
    assert.equal(await later, 'result 4');
  },

  'sends the next batch even if the previous one gets no response': async () => {
    const { batcher, sentBatches } = createBatcher();
    void batcher.submit(1);
    const later = [batcher.submit(2), batcher.submit(3)];
    while (sentBatches.length < 2) await waitForEventLoop();
    sentBatches[1]?.resolveBatch();
    assert.deepEqual(await Promise.all(later), ['result 2', 'result 3']);
  },

  'sends at most a hundred requests in a batch': () => {
    const { batcher, sentBatches } = createBatcher();
    for (let number = 0; number <= 250; number++) void batcher.submit(number);
    assert.deepEqual(
      sentBatches.map(({ batch }) => batch.length),
      [1, 100, 100],
    );
  },
});

const numbers = Array.from({ length: RECORD_COUNT }, (_, i) => i);

suite('simultaneous calls to a record store in MongoDB', {
  'read, list and add records with a few commands': () =>
    withStorage(async ({ campaigns }, countOperations) => {
      const workspaceId = newId();
      const records = numbers.map((i) => buildCampaign(workspaceId, { name: `Campaign ${i}` }));
      await Promise.all(records.map((record) => campaigns.add(record)));
      const got = await Promise.all(records.map(({ id }) => campaigns.get(workspaceId, id)));
      assert.deepEqual(
        got.map((record) => record?.name),
        records.map(({ name }) => name),
      );
      const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 99 } as const;
      const lists = await Promise.all(numbers.map(() => campaigns.list(workspaceId, query)));
      for (const list of lists) assert.equal(list.length, RECORD_COUNT);
      const ids = records.map(({ id }) => id);
      const twice = (i: number) => [...ids.slice(i), newId(), ...ids.slice(i)];
      const pages = await Promise.all(numbers.map((i) => campaigns.getMany(workspaceId, twice(i))));
      for (const [i, page] of pages.entries()) assert.deepEqual(page.map(({ id }) => id).sort(), ids.slice(i).sort());
      for (const op of ['insert', 'query']) {
        const count = await countOperations(op);
        assert.ok(count > 0 && count < RECORD_COUNT / 4, `${op}: ${count}`);
      }
    }),

  'fail only if MongoDB rejects their own record': () =>
    withStorage(async ({ tags }, _, client) => {
      const workspaceId = newId();
      await tags.add(buildTag(workspaceId, 'First'));
      await client.db().command({ collMod: 'tags', validator: { name: { $ne: 'Unwanted' } } });
      const wanted = numbers.map((i) => buildTag(workspaceId, `Tag ${i}`));
      const first = tags.add(wanted[0] as TagRecord);
      const [failed, ...added] = await Promise.allSettled([
        tags.add(buildTag(workspaceId, 'Unwanted')),
        ...wanted.slice(1).map((record) => tags.add(record)),
        first,
      ]);
      assert.match(String((failed as PromiseRejectedResult).reason), /MongoServerError: Document failed validation/);
      assert.deepEqual([...new Set(added.map(({ status }) => status))], ['fulfilled']);
      assert.equal(await tags.count(workspaceId, []), RECORD_COUNT + 1);
    }),

  'succeed even if one of them waits for a locked record, and the waiting call succeeds after the unlock': () =>
    withStorage(async ({ tags }, _, client) => {
      const [workspaceId, other] = [newId(), newId()];
      const locked = buildTag(workspaceId, 'Locked');
      const unlock = await lockName(client, locked);
      const first = tags.add(buildTag(other, 'First'));
      const waiting = tags.add(locked);
      // `await waiting` below reports a rejection. Until then, it must not count as unhandled.
      waiting.catch(() => undefined);
      await Promise.all([first, ...numbers.map((i) => tags.add(buildTag(i % 2 ? other : workspaceId, `Tag ${i}`)))]);
      await unlock();
      await waiting;
      assert.equal(await tags.count(workspaceId, []), RECORD_COUNT / 2 + 1);
    }),

  'return records with every change that was made before the call': () =>
    withStorage(async ({ campaigns }) => {
      const workspaceId = newId();
      const sequences = numbers.map(async (i) => {
        const record = buildCampaign(workspaceId, { clicks: 0 });
        await campaigns.add(record);
        for (let clicks = 1; clicks <= 5; clicks++) {
          await campaigns.update(workspaceId, record.id, (current) => ({ ...current, clicks }));
          assert.equal((await campaigns.get(workspaceId, record.id))?.clicks, clicks);
          const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 99 } as const;
          const listed = (await campaigns.list(workspaceId, query)).find(({ id }) => id === record.id);
          assert.equal(listed?.clicks, clicks, `campaign ${i}`);
        }
        await campaigns.remove(workspaceId, record.id);
        assert.equal(await campaigns.get(workspaceId, record.id), undefined);
      });
      await Promise.all(sequences);
    }),

  'of several workspaces need only a few commands, and return only records of their own workspace': () =>
    withStorage(async ({ campaigns }, countOperations) => {
      const records = numbers.map(() => buildCampaign(newId()));
      const ids = records.map(({ id }) => id);
      await Promise.all(records.map((record) => campaigns.add(record)));
      const got = await Promise.all(records.map(({ workspaceId, id }) => campaigns.get(workspaceId, id)));
      assert.deepEqual(got, records);
      // Each workspace asks for the records of all workspaces.
      const pages = await Promise.all(records.map(({ workspaceId }) => campaigns.getMany(workspaceId, ids, ['name'])));
      assert.deepEqual(
        pages.map((page) => page.map(({ id }) => id)),
        ids.map((id) => [id]),
      );
      const count = await countOperations('query');
      assert.ok(count > 0 && count < RECORD_COUNT / 4, `${count}`);
    }),
});

/** Locks the name of a tag, like a process that died in a transaction. Resolves to a function that unlocks the name. */
async function lockName(client: MongoClient, { workspaceId, foldedName }: TagRecord): Promise<() => Promise<void>> {
  const session = client.startSession();
  // MongoDB rejects the first attempts if it has not yet completed the indexes of the new database.
  await waitUntil(async () => {
    session.startTransaction();
    try {
      await client.db().collection('tags').insertOne({ workspaceId, foldedName }, { session });
      return true;
    } catch (error) {
      await session.abortTransaction();
      if (error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')) return false;
      throw error;
    }
  });
  return async () => {
    await session.abortTransaction();
    await session.endSession();
  };
}

/**
 * Runs a test with its own storage, a function that counts the operations on campaigns, and a client of its database.
 */
function withStorage(
  test: (engine: StorageEngine, countOperations: (op: string) => Promise<number>, client: MongoClient) => Promise<void>,
): Promise<void> {
  return withDatabase((uri) =>
    withMongoClient(uri, (client) =>
      withEngine(uri, async (engine) => {
        const db = client.db();
        await db.command({ profile: 2 });
        const ns = `${db.databaseName}.campaigns`;
        await test(engine, (op) => db.collection('system.profile').countDocuments({ ns, op }), client);
      }),
    ),
  );
}
