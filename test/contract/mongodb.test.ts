import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { suite } from '../support/suite.ts';
import { storageModel } from './model.ts';
import { storageContract } from './storage.ts';

let opened: ReturnType<typeof open> | undefined;
async function open() {
  const uri = `mongodb://127.0.0.1:27117/test-${randomUUID()}?replicaSet=rs0`;
  const { storage, connection } = mongodbStorage(uri, console.error);
  await connection.attempted();
  return storage;
}
const openStorage = async () => {
  opened ??= open();
  return { storage: await opened, close: async () => undefined };
};
void MongoClient;
suite('storage in MongoDB', { ...storageContract(openStorage), ...storageModel(openStorage, 20) });
setTimeout(() => process.exit(), 60_000).unref();
