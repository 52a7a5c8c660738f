import assert from 'node:assert/strict';
import { type Document, MongoClient, type RunCommandOptions } from 'mongodb';
import type { StoredDocument } from '../../adapters/mongodb/documents.ts';
import { createRecordStore } from '../../adapters/mongodb/record-store.ts';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import type { Query, RecordStore } from '../../core/shared/record-store.ts';
import { recordSchemas, type Storage } from '../../core/storage.ts';
import { createCampaign, createTag, newId } from '../contract/samples.ts';
import { mongod } from '../support/mongod.ts';
import { mongodbProxy } from '../support/mongodb-proxy.ts';
import { suite } from '../support/suite.ts';

async function onDatabase(query: string, work: (storage: Storage, client: MongoClient) => Promise<void>) {
  const { uri, stop } = await mongod();
  const client = new MongoClient(uri, { ignoreUndefined: true });
  const { storage, connection } = mongodbStorage(`${uri}${uri.includes('?') ? '&' : '?'}${query}`, () => undefined);
  try {
    await connection.firstAttempt();
    await work(storage, client);
  } finally {
    await Promise.all([connection.close(), client.close()]);
    await stop();
  }
}

/** Together more than the 16 MiB of a reply. */
const LARGE = Array.from({ length: 20 }, () => 'x'.repeat(1_000_000));

suite('what is found in MongoDB', {
  'is all that is there, though it is more than a reply may hold': () =>
    onDatabase('', async ({ campaigns, runInTransaction: atomically }, client) => {
      const workspaceId = newId();
      const added = LARGE.map((description) => ({ ...createCampaign(workspaceId), description }));
      for (const record of added) await campaigns.add(record);
      const ids = added.map(({ id }) => id).sort();
      const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: ids.length } as const;
      const ways = [
        await campaigns.list(workspaceId, query),
        await campaigns.listById(workspaceId, '', ids.length),
        await campaigns.getMany(workspaceId, ids),
        await atomically((staged) => staged.campaigns.getMany(workspaceId, ids)),
      ];
      for (const found of ways) assert.deepEqual(found.map(({ id }) => id).sort(), ids);
      const left = [
        { $currentOp: { idleCursors: true } },
        { $match: { type: 'idleCursor', ns: `${client.db().databaseName}.campaigns` } },
      ];
      assert.deepEqual(await client.db('admin').aggregate(left).toArray(), []);
    }),

  'is read with the read concern that the URI names': () =>
    onDatabase('readConcernLevel=majority', async ({ tags, runInTransaction: atomically }, client) => {
      const { workspaceId, id } = createTag(newId(), 'read');
      await client.db().command({ profile: 2 });
      await tags.get(workspaceId, id);
      await atomically(({ tags }) => tags.get(workspaceId, id));
      const commands = await client.db().collection('system.profile').find({ 'command.find': 'tags' }).toArray();
      assert.deepEqual(
        commands.map(({ command }) => command.readConcern?.level),
        ['majority', 'snapshot'],
      );
    }),

  'is asked for again where a reply is lost, and nobody is told that the database is away': async () => {
    const { uri, stop } = await mongod();
    const proxy = await mongodbProxy(uri);
    const told: string[] = [];
    const { storage, connection } = mongodbStorage(proxy.uri, (line) => told.push(line));
    try {
      await connection.firstAttempt();
      const read = createTag(newId(), 'read');
      await storage.tags.add(read);
      proxy.lose('find', 'answer', 1);
      assert.deepEqual(await storage.tags.get(read.workspaceId, read.id), read);
      assert.deepEqual([proxy.toLose, connection.retries, told], [0, 0, []]);
    } finally {
      await connection.close();
      await proxy.close();
      await stop();
    }
  },
});

/** Campaigns of which every list takes longer than it may: the real database gets a millisecond for it. */
function hurried(client: MongoClient): RecordStore<Campaign> {
  const database = client.db();
  const command = (sent: Document, options: RunCommandOptions) => database.command({ ...sent, maxTimeMS: 1 }, options);
  const collection = Object.create(database.collection<StoredDocument>('campaigns'), { db: { value: { command } } });
  const unused = () => Promise.reject(new Error('not of a list'));
  return createRecordStore('campaigns', recordSchemas.campaigns, {
    on: (_name, _scope, work) => work(collection, undefined),
    serializeByKey: unused,
    retryOnConflict: unused,
    isSharded: () => false,
  });
}

suite('a list that takes too long in MongoDB', {
  'is rejected with the advice to narrow it if it searches, filters by dates or has a high page number': () =>
    onDatabase('', async ({ campaigns }, client) => {
      const workspaceId = newId();
      for (const description of LARGE) {
        await campaigns.add({ ...createCampaign(workspaceId), description, searchText: description });
      }
      const list = (where: Query<Campaign>['where'], skip = 0) =>
        hurried(client).list(workspaceId, { where, by: 'createdAt', order: 'desc', skip, take: LARGE.length });
      const narrowable = [
        () => list([{ field: 'searchText', contains: 'tents' }]),
        () => list([{ field: 'startsAt', from: 0 }]),
        () => list([], 1),
      ];
      for (const read of narrowable) {
        await assert.rejects(read, { name: 'DomainError', kind: 'invalid', message: /takes too long.*narrow it/ });
      }
      await assert.rejects(list([]), { name: 'MongoServerError', codeName: 'MaxTimeMSExpired' });
    }),
});
