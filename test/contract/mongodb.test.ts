import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createDatabase, type Database } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { defineModelTests } from './model.ts';
import { defineStorageContract } from './storage-contract.ts';

let database: Promise<Database> | undefined;

/** Opens a storage on one database for all tests of this file. That is cheaper than a database for each test. */
async function openStorage() {
  database ??= createDatabase();
  const { engine, connection } = createMongodbEngine((await database).uri, () => undefined);
  await waitUntil(() =>
    engine.checkReady().then(
      () => true,
      () => false,
    ),
  );
  return { engine, close: () => connection.close() };
}

suite('storage in MongoDB', ...defineStorageContract(openStorage), defineModelTests(openStorage, 20), {
  'leaves no database behind after its tests': async () => (await database)?.stop(),
});
