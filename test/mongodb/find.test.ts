import assert from 'node:assert/strict';
import type { Document, MongoClient, RunCommandOptions } from 'mongodb';
import { type StoredDocument, toDocument } from '../../adapters/mongodb/documents.ts';
import { createMongodbRecordStore } from '../../adapters/mongodb/record-store.ts';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { AnyRecord, Query, RecordStore } from '../../adapters/persistence/record-store.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { type StoreSchema, storeSchemas } from '../../adapters/persistence/store-schemas.ts';
import { buildCampaign, buildTag, newId } from '../contract/samples.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';

function withStorage(
  uriOptions: string,
  work: (engine: StorageEngine, client: MongoClient) => Promise<void>,
): Promise<void> {
  return withDatabase((uri) => {
    const engineUri = `${uri}${uri.includes('?') ? '&' : '?'}${uriOptions}`;
    return withMongoClient(uri, (client) => withEngine(engineUri, (engine) => work(engine, client)));
  });
}

/** Texts that together exceed 16 MiB, the limit of one response of MongoDB. */
const LARGE_TEXTS = Array.from({ length: 20 }, () => 'x'.repeat(1_000_000));

suite('a read from MongoDB', {
  'returns all records even if they are too large for one response, and leaves no cursor open': () =>
    withStorage('', async ({ campaigns, runInTransaction }, client) => {
      const workspaceId = newId();
      const added = LARGE_TEXTS.map((description) => ({ ...buildCampaign(workspaceId), description }));
      for (const record of added) await campaigns.add(record);
      const ids = added.map(({ id }) => id).sort();
      const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: ids.length } as const;
      const results = [
        await campaigns.list(workspaceId, query),
        await campaigns.listById(workspaceId, '', ids.length),
        await campaigns.getMany(workspaceId, ids),
        await runInTransaction((staged) => staged.campaigns.getMany(workspaceId, ids)),
      ];
      for (const found of results) assert.deepEqual(found.map(({ id }) => id).sort(), ids);
      const openCursors = [
        { $currentOp: { idleCursors: true } },
        { $match: { type: 'idleCursor', ns: `${client.db().databaseName}.campaigns` } },
      ];
      assert.deepEqual(await client.db('admin').aggregate(openCursors).toArray(), []);
    }),

  'has the read concern of the URI, or `snapshot` in a transaction': () =>
    withStorage('readConcernLevel=majority', async ({ tags, runInTransaction }, client) => {
      const { workspaceId, id } = buildTag(newId(), 'read');
      await client.db().command({ profile: 2 });
      await tags.get(workspaceId, id);
      await runInTransaction(({ tags }) => tags.get(workspaceId, id));
      const commands = await client.db().collection('system.profile').find({ 'command.find': 'tags' }).toArray();
      assert.deepEqual(
        commands.map(({ command }) => command.readConcern?.level),
        ['majority', 'snapshot'],
      );
    }),
});

/**
 * The number of records that every list reads in the last test. MongoDB compares the time with the limit once in 1,000
 * steps, so lists of fewer records can exceed the limit without being stopped.
 */
const RECORD_COUNT = 20_000;

/**
 * Creates a store of campaigns whose commands have a time limit of one millisecond, which every list of many records
 * exceeds.
 */
function createStoreWithShortLimit(client: MongoClient): RecordStore<CampaignRecord> {
  const database = client.db(undefined, { ignoreUndefined: true });
  const command = (sent: Document, options: RunCommandOptions) => database.command({ ...sent, maxTimeMS: 1 }, options);
  const collection = Object.create(database.collection<StoredDocument>('campaigns'), { db: { value: { command } } });
  const rejectUse = () => Promise.reject(new Error('a list does not use this'));
  return createMongodbRecordStore(storeSchemas.get('campaigns') as StoreSchema, {
    runOnCollection: (_name, work) => work(collection, undefined),
    runChange: rejectUse,
    runUpdate: rejectUse,
  }) as RecordStore<AnyRecord> as never;
}

suite('a list that exceeds its time limit in MongoDB', {
  'and has a search, a date filter or a later page, is rejected with the advice to narrow the list': () =>
    withStorage('', async (_, client) => {
      const workspaceId = newId();
      const documents = Array.from({ length: RECORD_COUNT }, () =>
        toDocument(buildCampaign(workspaceId), storeSchemas.get('campaigns') as StoreSchema),
      );
      await client.db().collection<StoredDocument>('campaigns').insertMany(documents);
      const list = (where: Query<CampaignRecord>['where'], skip = 0) =>
        createStoreWithShortLimit(client).list(workspaceId, {
          where,
          by: 'createdAt',
          order: 'desc',
          skip,
          take: RECORD_COUNT,
        });
      const narrowable = [
        () => list([{ field: 'searchText', contains: 'tents' }]),
        () => list([{ field: 'startsAt', from: 0 }]),
        () => list([], 1),
      ];
      for (const read of narrowable) {
        await assert.rejects(read, { kind: 'invalid', causeName: 'list_too_slow' });
      }
      await assert.rejects(list([]), { name: 'MongoServerError', codeName: 'MaxTimeMSExpired' });
    }),
});
