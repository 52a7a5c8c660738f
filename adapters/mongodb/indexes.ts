import type { Db, IndexDescription } from 'mongodb';
import type { Entity, Kind } from '../../core/shared/records.ts';
import { kinds, registries } from '../../core/storage.ts';
import { EXPIRY } from './documents.ts';

const NAMESPACE_EXISTS = 48;

/** Makes the collections and the indexes that the kinds declare, where they are missing. Several may do it at once. */
export async function prepare(db: Db): Promise<void> {
  const making = Object.entries(kinds).map(([name, kind]) =>
    db.collection(name).createIndexes(indexesOf(kind as unknown as Kind<Entity>)),
  );
  await Promise.all([...making, ...registries.map((name) => makeCollection(db, name))]);
}

/** Each begins with the workspace and, unless it is unique, ends with the id, in which every order ends. */
function indexesOf({ unique, indexes, expires }: Kind<Entity>): IndexDescription[] {
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
