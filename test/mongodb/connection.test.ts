import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createCampaign, newId } from '../contract/samples.ts';
import { each } from '../support/each.ts';
import { mongod } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';

const HELD_MS = 3_000;

type Opened = ReturnType<typeof mongodbStorage>;

async function onDatabase(work: (opened: Opened, uri: string) => Promise<void>): Promise<void> {
  const { uri, stop } = await mongod();
  const opened = mongodbStorage(uri, () => undefined);
  try {
    await opened.connection.firstAttempt();
    await work(opened, uri);
  } finally {
    await opened.connection.close();
    await stop();
  }
}

suite('a connection to MongoDB', {
  'has writes acknowledged by the majority, in their journals, whatever the URI says': () =>
    onDatabase(async (_, uri) => {
      const { connection } = mongodbStorage(`${uri}${uri.includes('?') ? '&' : '?'}w=1&journal=false`, () => undefined);
      try {
        const { w, journal } = (await connection.run(async (client) => client.writeConcern)) ?? {};
        assert.deepEqual({ w, journal }, { w: 'majority', journal: true });
      } finally {
        await connection.close();
      }
    }),

  'tries again where the driver tells of a broken socket as the socket does': () =>
    onDatabase(({ connection }) =>
      each(
        ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].map((code) => [code, code] as const),
        async (code) => {
          let tries = 0;
          const result = await connection.run(async () => {
            if (++tries === 1)
              throw Object.assign(new Error('This socket has been ended by the other party'), { code });
            return 'done';
          });
          assert.deepEqual([result, tries], ['done', 2]);
        },
      ),
    ),

  'does not try again what nobody knows': () =>
    onDatabase(async ({ connection }) => {
      let tries = 0;
      const work = async () => {
        tries++;
        throw new TypeError('a mistake of ours');
      };
      await assert.rejects(connection.run(work), TypeError);
      assert.equal(tries, 1);
    }),

  'writes what a process that died held, as soon as MongoDB lets go of it': () =>
    onDatabase(async ({ storage }, uri) => {
      const before = createCampaign(newId());
      await storage.campaigns.add(before);
      const client = new MongoClient(uri);
      const session = client.startSession();
      session.startTransaction();
      await client
        .db()
        .collection('campaigns')
        .updateOne({ name: before.name }, { $set: { clicks: 7 } }, { session });
      setTimeout(() => session.abortTransaction(), HELD_MS);
      const after = await storage.campaigns.update(before.workspaceId, before.id, (it) => ({ ...it, clicks: 1 }));
      await session.endSession();
      await client.close();
      assert.equal(after?.clicks, 1);
      assert.deepEqual(await storage.campaigns.get(before.workspaceId, before.id), after);
    }),

  'lists though somebody has dropped the indexes meanwhile': () =>
    onDatabase(async ({ storage, connection }) => {
      const workspaceId = newId();
      const one = createCampaign(workspaceId);
      await storage.campaigns.add(one);
      await connection.run((client) => client.db().collection('campaigns').dropIndexes());
      const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 10 } as const;
      const live = { ...query, where: [{ field: 'archived', in: [false] }] } as const;
      for (const asked of [query, live]) {
        const listed = await storage.campaigns.list(workspaceId, asked);
        assert.deepEqual(
          listed.map(({ id }) => id),
          [one.id],
        );
      }
    }),
});
