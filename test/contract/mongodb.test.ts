import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { type Database, mongod } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { storageModel } from './model.ts';
import { storageContract } from './storage.ts';

let database: Promise<Database> | undefined;

/** Opens a storage on the one database of this file: it costs less than a database for each test. */
async function openStorage() {
  database ??= mongod();
  const { storage, connection } = mongodbStorage((await database).uri, () => undefined);
  await waitUntil(() =>
    storage.checkReady().then(
      () => true,
      () => false,
    ),
  );
  return { storage, close: () => connection.close() };
}

suite('storage in MongoDB', {
  ...storageContract(openStorage),
  ...storageModel(openStorage, 20),
  'leaves no database behind': async () => (await database)?.stop(),
});
