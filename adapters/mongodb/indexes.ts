import { randomUUID } from 'node:crypto';
import type { Db, IndexDescription } from 'mongodb';
import type { Entity, RecordSchema } from '../../core/shared/record-store.ts';
import { globalStoreNames, recordSchemas } from '../../core/storage.ts';
import { EXPIRY, type StoredDocument } from './documents.ts';

const NAMESPACE_EXISTS = 48;

/**
 * Creates the missing collections and indexes of the kinds. Several processes may do it at the same time. If nothing is
 * missing, nothing is written, so that a process can start and serve reads while writes block.
 */
export async function prepare(db: Db): Promise<void> {
  const listed = await db.listCollections({}, { nameOnly: true }).toArray();
  const existing = new Set(listed.map(({ name }) => name));
  const prepareKind = async ([name, kind]: [string, unknown]) => {
    const declared = indexesOf(kind as RecordSchema<Entity>);
    const present = existing.has(name) ? await db.collection(name).indexes() : [];
    const isPresent = (index: IndexDescription) => present.some((other) => isSameIndex(index, other));
    if (!declared.every(isPresent)) await db.collection(name).createIndexes(declared);
  };
  const missing = globalStoreNames.filter((name) => !existing.has(name));
  await Promise.all([
    ...Object.entries(recordSchemas).map(prepareKind),
    ...missing.map((name) => makeCollection(db, name)),
  ]);
}

function isSameIndex(one: IndexDescription, other: IndexDescription): boolean {
  const [first, second] = [one, other].map(({ key, unique = false, expireAfterSeconds }) =>
    JSON.stringify([key, unique, expireAfterSeconds]),
  );
  return first === second;
}

/**
 * Looks up a random id in the collection that each request reads first. In a sharded cluster, this collection is sharded by
 * the hash of the id, so a random shard is read.
 */
export async function probe(db: Db, maxTimeMS: number): Promise<void> {
  await db
    .collection<StoredDocument>('credentials')
    .findOne({ _id: randomUUID() }, { projection: { _id: 1 }, maxTimeMS });
}

/** Each begins with the workspace and, unless it is unique, ends with the id, in which every order ends. */
function indexesOf({ unique, indexes, expires }: RecordSchema<Entity>): IndexDescription[] {
  return [
    ...Object.keys(unique).map((field) => ({
      name: uniqueIndexName(field),
      key: { workspaceId: 1, [field]: 1 },
      unique: true,
    })),
    ...indexes.map((fields) => ({ key: indexKey(fields) })),
    ...(expires === undefined ? [] : [{ key: { [EXPIRY]: 1 }, expireAfterSeconds: 0 }]),
    { key: { workspaceId: 1, _id: 1 } },
  ] as IndexDescription[];
}

export function uniqueIndexName(field: string): string {
  return `unique_${field}`;
}

/** The key of an index of a kind. */
export function indexKey(fields: readonly string[]): Record<string, 1> {
  return Object.fromEntries(['workspaceId', ...fields, '_id'].map((field) => [field, 1]));
}

async function makeCollection(db: Db, name: string): Promise<void> {
  await db.createCollection(name).catch((error) => {
    if (error.code !== NAMESPACE_EXISTS) throw error;
  });
}
