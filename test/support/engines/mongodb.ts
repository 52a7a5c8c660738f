import { type ClientSession, Db, type MongoClient } from 'mongodb';
import type { MongoConnection } from '../../../adapters/mongodb/connection.ts';
import { createMongodbEngine } from '../../../adapters/mongodb/engine.ts';
import { LIST_TIMEOUT_MS } from '../../../adapters/persistence/record-store.ts';
import { withMongoClient } from '../mongo-client.ts';
import { createMongodbSettings } from '../mongodb-settings.ts';
import { waitUntil } from '../wait-until.ts';
import type { TestEngine } from './engine.ts';

export const mongodb: TestEngine = {
  name: 'mongodb',
  transactions: 'optimistic',
  isShared: true,
  takesClock: false,
  async createDatabase() {
    // Loaded only here, because `mongod.ts` starts a server when it is loaded. A process that only opens a database
    // must not start one.
    const { createDatabase } = await import('../mongod.ts');
    const { uri, stop } = await createDatabase();
    return { location: uri, remove: stop, clear: () => deleteAllDocuments(uri) };
  },
  createUnopenedDatabase: () => mongodb.createDatabase(),
  /** Sends the commands of lists with a time limit that they exceed. */
  async runSlowList(list) {
    const { command } = Db.prototype;
    Db.prototype.command = function (sent, options) {
      return command.call(this, sent.maxTimeMS === LIST_TIMEOUT_MS ? { ...sent, maxTimeMS: 1 } : sent, options);
    };
    return list().finally(() => (Db.prototype.command = command));
  },
  createSettings: createMongodbSettings,
  async open(location) {
    const { engine, connection } = createMongodbEngine(location, () => undefined);
    const isReady = () =>
      engine.checkReady().then(
        () => true,
        () => false,
      );
    await waitUntil(isReady);
    return { engine, close: () => connection.close(), rollBackTransactions: () => killSessions(connection) };
  },
  countExaminedRecords: (location, readList) =>
    withMongoClient(location, async (client) => {
      const database = client.db();
      await database.setProfilingLevel('all');
      await readList();
      await database.setProfilingLevel('off');
      const profile = database.collection('system.profile');
      const entries = await profile.find({ op: { $in: ['query', 'command'] } }).toArray();
      await profile.drop();
      return entries.reduce((sum, { docsExamined = 0, keysExamined = 0 }) => sum + docsExamined + keysExamined, 0);
    }),
};

/** Kills the sessions of a connection that are in a transaction, as an operator can, or a failing server. */
async function killSessions(connection: MongoConnection): Promise<void> {
  const { client } = connection as unknown as {
    readonly client: { readonly s: { activeSessions: Set<ClientSession> } };
  };
  const open = [...client.s.activeSessions].filter((session) => session.inTransaction());
  const admin = (client as unknown as MongoClient).db('admin');
  await admin.command({ killSessions: open.map(({ id }) => id) });
}

function deleteAllDocuments(uri: string): Promise<void> {
  return withMongoClient(uri, async (client) => {
    const collections = await client.db().collections();
    await Promise.all(collections.map((collection) => collection.deleteMany({})));
  });
}
