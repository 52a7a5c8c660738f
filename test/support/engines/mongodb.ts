import { createMongodbEngine } from '../../../adapters/mongodb/engine.ts';
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
  createSettings: createMongodbSettings,
  async open(location) {
    const { engine, connection } = createMongodbEngine(location, () => undefined);
    const isReady = () =>
      engine.checkReady().then(
        () => true,
        () => false,
      );
    await waitUntil(isReady);
    return { engine, close: () => connection.close() };
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

function deleteAllDocuments(uri: string): Promise<void> {
  return withMongoClient(uri, async (client) => {
    const collections = await client.db().collections();
    await Promise.all(collections.map((collection) => collection.deleteMany({})));
  });
}
