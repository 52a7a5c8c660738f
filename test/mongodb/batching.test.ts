import assert from 'node:assert/strict';
import { MongoClient, MongoError } from 'mongodb';
import { Batcher } from '../../adapters/mongodb/batching.ts';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import type { Storage } from '../../core/storage.ts';
import { type Tag, tagSchema } from '../../core/tag/tag.ts';
import { assertConflict } from '../contract/assert-conflict.ts';
import { createCampaign, createTag, newId } from '../contract/samples.ts';
import { mongod } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';

const MANY = 60;
const HELD_MS = 3_000;

/** Batches whose questions are answered, or refused, when the test says so. */
function questions() {
  const asked: { readonly batch: readonly number[]; answer(): void; refuse(): void }[] = [];
  const batches = new Batcher<number, string>(
    (batch) =>
      new Promise((resolve, reject) => {
        asked.push({
          batch,
          answer: () => resolve(batch.map((number) => `answer ${number}`)),
          refuse: () => reject(new Error(`refused ${batch}`)),
        });
      }),
  );
  return { batches, asked };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

suite('questions in batches', {
  'go out at once where none is being answered, and together where some are': async () => {
    const { batches, asked } = questions();
    const answers = [1, 2, 3].map((number) => batches.load(number));
    assert.deepEqual(
      asked.map(({ batch }) => batch),
      [[1]],
    );
    asked[0]?.answer();
    await turn();
    asked[1]?.answer();
    assert.deepEqual(await Promise.all(answers), ['answer 1', 'answer 2', 'answer 3']);
    assert.deepEqual(
      asked.map(({ batch }) => batch),
      [[1], [2, 3]],
    );
  },

  'fail with those that went out together, and with no others': async () => {
    const { batches, asked } = questions();
    const answers = [1, 2, 3].map((number) => batches.load(number));
    asked[0]?.answer();
    await turn();
    const later = batches.load(4);
    asked[1]?.refuse();
    const settled = await Promise.allSettled(answers);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    await turn();
    asked[2]?.answer();
    assert.equal(await later, 'answer 4');
  },

  'do not wait for one that is not answered': async () => {
    const { batches, asked } = questions();
    void batches.load(1);
    const later = [batches.load(2), batches.load(3)];
    while (asked.length < 2) await turn();
    asked[1]?.answer();
    assert.deepEqual(await Promise.all(later), ['answer 2', 'answer 3']);
  },

  'are a hundred at most': () => {
    const { batches, asked } = questions();
    for (let number = 0; number <= 250; number++) void batches.load(number);
    assert.deepEqual(
      asked.map(({ batch }) => batch.length),
      [1, 100, 100],
    );
  },
});

const some = Array.from({ length: MANY }, (_, i) => i);

suite('records in MongoDB that are asked for at the same time', {
  'are read, listed and added with a few commands': () =>
    onStorage(async ({ campaigns }, operations) => {
      const workspaceId = newId();
      const records = some.map((i) => createCampaign(workspaceId, { name: `Campaign ${i}` }));
      await Promise.all(records.map((record) => campaigns.add(record)));
      const got = await Promise.all(records.map(({ id }) => campaigns.get(workspaceId, id)));
      assert.deepEqual(
        got.map((record) => record?.name),
        records.map(({ name }) => name),
      );
      const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 99 } as const;
      const lists = await Promise.all(some.map(() => campaigns.list(workspaceId, query)));
      for (const list of lists) assert.equal(list.length, MANY);
      const ids = records.map(({ id }) => id);
      const twice = (i: number) => [...ids.slice(i), newId(), ...ids.slice(i)];
      const pages = await Promise.all(some.map((i) => campaigns.getMany(workspaceId, twice(i))));
      for (const [i, page] of pages.entries()) assert.deepEqual(page.map(({ id }) => id).sort(), ids.slice(i).sort());
      for (const op of ['insert', 'query']) {
        const count = await operations(op);
        assert.ok(count > 0 && count < MANY / 4, `${op}: ${count}`);
      }
    }),

  'are refused one by one': () =>
    onStorage(async ({ tags }) => {
      const workspaceId = newId();
      const records = some.map((i) => createTag(workspaceId, `Tag ${i % (MANY / 2)}`));
      const added = await Promise.allSettled(records.map((record) => tags.add(record)));
      const stored = await tags.getMany(
        workspaceId,
        records.map(({ id }) => id),
      );
      assert.equal(stored.length, MANY / 2);
      const kept = new Set(stored.map(({ id }) => id));
      for (const [i, { status }] of added.entries()) {
        assert.equal(status === 'fulfilled', kept.has((records[i] as { id: string }).id));
      }
      const refused = added.find((result) => result.status === 'rejected') as PromiseRejectedResult;
      await assertConflict(Promise.reject(refused.reason), tagSchema.unique.foldedName);
    }),

  'fail alone where the database refuses them for a reason of its own': () =>
    onStorage(async ({ tags }, _, client) => {
      const workspaceId = newId();
      await tags.add(createTag(workspaceId, 'First'));
      await client.db().command({ collMod: 'tags', validator: { name: { $ne: 'Unwanted' } } });
      const wanted = some.map((i) => createTag(workspaceId, `Tag ${i}`));
      const first = tags.add(wanted[0] as Tag);
      const [failed, ...added] = await Promise.allSettled([
        tags.add(createTag(workspaceId, 'Unwanted')),
        ...wanted.slice(1).map((record) => tags.add(record)),
        first,
      ]);
      assert.match(String((failed as PromiseRejectedResult).reason), /MongoServerError: Document failed validation/);
      assert.deepEqual([...new Set(added.map(({ status }) => status))], ['fulfilled']);
      assert.equal(await tags.count(workspaceId, []), MANY + 1);
    }),

  'do not wait for one that another holds, whose own turn comes': () =>
    onStorage(async ({ tags }, _, client) => {
      const [workspaceId, other] = [newId(), newId()];
      const held = createTag(workspaceId, 'Held');
      const end = await hold(client, held);
      const first = tags.add(createTag(other, 'First'));
      const waiting = tags.add(held);
      waiting.catch(() => 'told below');
      await Promise.all([first, ...some.map((i) => tags.add(createTag(i % 2 ? other : workspaceId, `Tag ${i}`)))]);
      await end();
      await waiting;
      assert.equal(await tags.count(workspaceId, []), MANY / 2 + 1);
    }),

  'are added together when another lets go of one': () =>
    onStorage(async ({ tags }, _, client) => {
      const held = createTag(newId(), 'Held');
      const end = await hold(client, held);
      setTimeout(end, HELD_MS);
      assert.deepEqual(await tags.addMany([held, createTag(newId(), 'Free')]), new Map());
      assert.deepEqual(await tags.get(held.workspaceId, held.id), held);
    }),

  'fail with an error where MongoDB ends the command': () =>
    onStorage(async ({ tags }, _, client) => {
      const held = createTag(newId(), 'Held');
      const end = await hold(client, held);
      const added = assert.rejects(tags.addMany([held, createTag(newId(), 'Free')]), MongoError);
      const admin = client.db('admin');
      const ours = { 'command.insert': 'tags', 'command.$db': client.db().databaseName };
      for (let isKilled = false; !isKilled; ) {
        const ops = await admin.aggregate([{ $currentOp: {} }, { $match: ours }]).toArray();
        for (const { opid } of ops) await admin.command({ killOp: 1, op: opid });
        isKilled = ops.length > 0;
      }
      await added;
      await end();
    }),

  'are seen as they are after what was answered before': () =>
    onStorage(async ({ campaigns }) => {
      const workspaceId = newId();
      const lives = some.map(async (i) => {
        const record = createCampaign(workspaceId, { clicks: 0 });
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
      await Promise.all(lives);
    }),

  'are read with a few commands whatever their workspaces are, and by no other workspace': () =>
    onStorage(async ({ campaigns }, operations) => {
      const records = some.map(() => createCampaign(newId()));
      const ids = records.map(({ id }) => id);
      await Promise.all(records.map((record) => campaigns.add(record)));
      const got = await Promise.all(records.map(({ workspaceId, id }) => campaigns.get(workspaceId, id)));
      assert.deepEqual(got, records);
      const pages = await Promise.all(records.map(({ workspaceId }) => campaigns.getMany(workspaceId, ids, ['name'])));
      assert.deepEqual(
        pages.map((page) => page.map(({ id }) => id)),
        ids.map((id) => [id]),
      );
      const count = await operations('query');
      assert.ok(count > 0 && count < MANY / 4, `${count}`);
    }),

  'are those of their own workspace': () =>
    onStorage(async ({ campaigns }) => {
      const [one, other] = [newId(), newId()];
      const record = createCampaign(one, {});
      await campaigns.add(record);
      const got = await Promise.all(some.map((i) => campaigns.get(i % 2 ? one : other, record.id)));
      assert.deepEqual(
        got.map((found) => found?.id),
        some.map((i) => (i % 2 ? record.id : undefined)),
      );
    }),
});

/** Holds the name of a tag, as a process does that died in a transaction; until the end of that is asked for. */
async function hold(client: MongoClient, { workspaceId, foldedName }: Tag): Promise<() => Promise<void>> {
  const session = client.startSession();
  session.startTransaction();
  await client.db().collection('tags').insertOne({ workspaceId, foldedName }, { session });
  return async () => {
    await session.abortTransaction();
    await session.endSession();
  };
}

/** Gives a test a storage of its own, and what tells how many operations of a kind its campaigns have had. */
async function onStorage(
  test: (storage: Storage, operations: (op: string) => Promise<number>, client: MongoClient) => Promise<void>,
): Promise<void> {
  const database = await mongod();
  const client = new MongoClient(database.uri);
  const { storage, connection } = mongodbStorage(database.uri, () => undefined);
  try {
    await connection.firstAttempt();
    const db = client.db();
    await db.command({ profile: 2 });
    const ns = `${db.databaseName}.campaigns`;
    await test(storage, (op) => db.collection('system.profile').countDocuments({ ns, op }), client);
  } finally {
    await connection.close();
    await client.db().command({ profile: 0 });
    await client.close();
    await database.stop();
  }
}
