import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { createDatabase, withDatabaseName } from '../support/mongod.ts';
import { startReplicaSet, startStandalone } from '../support/replica-set.ts';
import { suite } from '../support/suite.ts';

suite('The MongoDB of the tests', {
  'provides a database with transactions for each test, and drops it afterwards': async () => {
    const [first, second] = [await createDatabase(), await createDatabase()];
    const client = new MongoClient(first.uri);
    try {
      await client.withSession((session) =>
        session.withTransaction(() => client.db().collection('some').insertOne({ stored: true }, { session })),
      );
      assert.equal(await countDocuments(first.uri), 1);
      assert.equal(await countDocuments(second.uri), 0);
    } finally {
      await client.close();
      await first.stop();
      await second.stop();
    }
    assert.equal(await countDocuments(first.uri), 0);
  },

  'has a URI in which the database can be replaced without changing the database of the authentication': () => {
    const cases = [
      ['mongodb://a:1,b:2', 'mongodb://a:1,b:2/new'],
      ['mongodb://a:1/?replicaSet=rs0', 'mongodb://a:1/new?replicaSet=rs0'],
      ['mongodb+srv://a.example/old?w=majority', 'mongodb+srv://a.example/new?w=majority'],
      ['mongodb://me:it@a:1/old', 'mongodb://me:it@a:1/new?authSource=old'],
      ['mongodb://me:it@a:1', 'mongodb://me:it@a:1/new?authSource=admin'],
      ['mongodb://me:it@a:1/?authSource=x', 'mongodb://me:it@a:1/new?authSource=x'],
    ];
    for (const [uri, expected] of cases) assert.equal(withDatabaseName(uri as string, 'new'), expected);
  },

  'can be a replica set of three that continues without its primary, which can rejoin': async () => {
    const set = await startReplicaSet(3, { electionTimeoutMillis: 1_000, heartbeatIntervalMillis: 200 });
    try {
      await insert(set.uri);
      const killed = await set.findPrimary();
      await killed.kill();
      assert.notEqual((await set.findPrimary()).port, killed.port);
      await insert(set.uri);
      await killed.start();
      const directUri = `mongodb://127.0.0.1:${killed.port}/?directConnection=true`;
      while ((await countDocuments(directUri).catch(() => 0)) < 2);
    } finally {
      await set.stop();
    }
  },

  'can be a standalone server, which has no transactions': async () => {
    const { uri, server } = await startStandalone();
    const client = new MongoClient(uri, { retryWrites: false });
    try {
      const transaction = client.withSession((session) =>
        session.withTransaction(() => client.db().collection('some').insertOne({}, { session })),
      );
      await assert.rejects(transaction, /retryable writes/);
    } finally {
      await client.close();
      await server.stop();
    }
  },
});

async function insert(uri: string): Promise<void> {
  const client = new MongoClient(uri, { retryWrites: true });
  await client
    .db()
    .collection('some')
    .insertOne({}, { writeConcern: { w: 'majority' } })
    .finally(() => client.close());
}

async function countDocuments(uri: string): Promise<number> {
  const client = new MongoClient(uri, { readPreference: 'nearest' });
  return client
    .db()
    .collection('some')
    .countDocuments()
    .finally(() => client.close());
}
