import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { createDatabase, withDatabaseName } from '../support/mongod.ts';
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

  'has a URI in which a test can replace the database, but keep the database of the authentication': () => {
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
});

async function countDocuments(uri: string): Promise<number> {
  const client = new MongoClient(uri);
  return client
    .db()
    .collection('some')
    .countDocuments()
    .finally(() => client.close());
}
