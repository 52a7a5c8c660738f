import assert from 'node:assert/strict';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { buildCampaign, newId } from '../contract/samples.ts';
import { each } from '../support/each.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';

const LOCK_DURATION_MS = 3_000;

type Opened = ReturnType<typeof createMongodbEngine>;

function withConnection(work: (opened: Opened, uri: string) => Promise<void>): Promise<void> {
  return withDatabase(async (uri) => {
    const opened = createMongodbEngine(uri, () => undefined);
    try {
      await opened.connection.waitForStartup();
      await work(opened, uri);
    } finally {
      await opened.connection.close();
    }
  });
}

suite('a connection to MongoDB', {
  'has the write concern `majority` with journal, even if the URI sets another write concern': () =>
    withConnection(async (_, uri) => {
      const { connection } = createMongodbEngine(
        `${uri}${uri.includes('?') ? '&' : '?'}w=1&journal=false`,
        () => undefined,
      );
      try {
        const { w, journal } = (await connection.run(async (client) => client.writeConcern)) ?? {};
        assert.deepEqual({ w, journal }, { w: 'majority', journal: true });
      } finally {
        await connection.close();
      }
    }),

  'retries after a broken socket, even if the driver throws the error of the socket itself': () =>
    withConnection(({ connection }) =>
      each(
        ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].map((code) => [code, code] as const),
        async (code) => {
          let attemptCount = 0;
          const result = await connection.run(async () => {
            if (++attemptCount === 1)
              throw Object.assign(new Error('This socket has been ended by the other party'), { code });
            return 'done';
          });
          assert.deepEqual([result, attemptCount], ['done', 2]);
        },
      ),
    ),

  'does not retry an unknown error': () =>
    withConnection(async ({ connection }) => {
      let attemptCount = 0;
      const work = async () => {
        attemptCount++;
        throw new TypeError('a bug');
      };
      await assert.rejects(connection.run(work), TypeError);
      assert.equal(attemptCount, 1);
    }),

  'updates a record that a dead process has locked, after MongoDB has released the lock': () =>
    withConnection(async ({ engine }, uri) => {
      const before = buildCampaign(newId());
      await engine.campaigns.add(before);
      const after = await withMongoClient(uri, async (client) => {
        const session = client.startSession();
        session.startTransaction();
        await client
          .db()
          .collection('campaigns')
          .updateOne({ name: before.name }, { $set: { clicks: 7 } }, { session });
        setTimeout(() => session.abortTransaction(), LOCK_DURATION_MS);
        return engine.campaigns.update(before.workspaceId, before.id, (it) => ({ ...it, clicks: 1 }));
      });
      assert.equal(after?.clicks, 1);
      assert.deepEqual(await engine.campaigns.get(before.workspaceId, before.id), after);
    }),

  'lists records after the indexes have been dropped': () =>
    withConnection(async ({ engine, connection }) => {
      const workspaceId = newId();
      const record = buildCampaign(workspaceId);
      await engine.campaigns.add(record);
      await connection.run((client) => client.db().collection('campaigns').dropIndexes());
      const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 10 } as const;
      const live = { ...query, where: [{ field: 'archived', in: [false] }] } as const;
      for (const listQuery of [query, live]) {
        const listed = await engine.campaigns.list(workspaceId, listQuery);
        assert.deepEqual(
          listed.map(({ id }) => id),
          [record.id],
        );
      }
    }),
});
