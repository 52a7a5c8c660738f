import { randomUUID } from 'node:crypto';
import type { Collection, Db, IndexDescription } from 'mongodb';
import { PROBED_STORE_NAME } from '../persistence/storage-engine.ts';
import { type StoreSchema, storeSchemas } from '../persistence/store-schemas.ts';
import { COMMAND_TIMEOUT } from './client.ts';
import { EXPIRY_FIELD, type StoredDocument } from './documents.ts';

/** The index of a global store. Every collection has it, so creating it only creates the collection. */
const ID_INDEX: IndexDescription = { key: { _id: 1 }, name: '_id_' };

/**
 * Creates the missing collections and indexes of all stores. If an index of a collection is missing, first fills the
 * columns of records of earlier versions. So a new column with a default needs a new index. Several processes may do
 * this at the same time. If no index is missing, nothing is written, so that a process can start and serve reads while
 * writes are blocked.
 */
export async function createMissingIndexes(db: Db): Promise<void> {
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  const existing = new Set(listed.map(({ name }) => name));
  const createIndexesOf = async (schema: StoreSchema) => {
    const collection = db.collection(schema.name);
    const declared = schema.isGlobal ? [ID_INDEX] : describeIndexes(schema);
    const present = existing.has(schema.name) ? await collection.indexes() : [];
    if (declared.every((index) => present.some((other) => isSameIndex(index, other)))) return;
    await fillDefaults(collection, schema);
    await collection.createIndexes(declared);
  };
  await Promise.all([...storeSchemas.values()].map(createIndexesOf));
}

/**
 * Writes the defaults of columns into records that lack them, because queries filter and sort by stored values only.
 */
async function fillDefaults(collection: Collection, { columns, defaults }: StoreSchema): Promise<void> {
  for (const [field, value] of Object.entries(defaults).filter(([name]) => name in columns)) {
    await collection.updateMany({ [field]: { $exists: false } }, { $set: { [field]: value } });
  }
}

function isSameIndex(one: IndexDescription, other: IndexDescription): boolean {
  const [first, second] = [one, other].map(({ key, unique = false, expireAfterSeconds }) =>
    JSON.stringify([key, unique, expireAfterSeconds]),
  );
  return first === second;
}

/**
 * Looks up a random ID. If the probed collection is sharded by the hash of the ID, as deployment/shard.js says, this
 * reads a random shard.
 */
export async function lookUpRandomId(db: Db): Promise<void> {
  await db
    .collection<StoredDocument>(PROBED_STORE_NAME)
    .findOne({ _id: randomUUID() }, { projection: { _id: 1 }, ...COMMAND_TIMEOUT });
}

/**
 * Returns the indexes of a record schema. The index of the expiry time has no other field. All other indexes begin with
 * the workspace. Of these, all that are not unique end with the ID, because the ID is the last sort field of every
 * query.
 */
function describeIndexes({ unique, indexes, expires }: StoreSchema): IndexDescription[] {
  return [
    ...unique.map((field) => ({
      name: toUniqueIndexName(field),
      key: { workspaceId: 1, [field]: 1 },
      unique: true,
    })),
    ...indexes.map((fields) => ({ key: createIndexKey(fields) })),
    ...(expires === undefined ? [] : [{ key: { [EXPIRY_FIELD]: 1 }, expireAfterSeconds: 0 }]),
    { key: { workspaceId: 1, _id: 1 } },
  ] as IndexDescription[];
}

export function toUniqueIndexName(field: string): string {
  return `unique_${field}`;
}

/** Returns the key of an index that is not unique. */
export function createIndexKey(fields: readonly string[]): Record<string, 1> {
  return Object.fromEntries(['workspaceId', ...fields, '_id'].map((field) => [field, 1]));
}
