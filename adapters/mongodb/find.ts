import { type ClientSession, type Collection, type Filter, Long } from 'mongodb';
import { COMMAND_TIMEOUT } from './client.ts';
import type { StoredDocument } from './documents.ts';

/** A find command (https://www.mongodb.com/docs/manual/reference/command/find/) of at most `limit` documents. */
export interface FindCommand {
  readonly filter: Filter<StoredDocument>;
  readonly sort?: Readonly<Record<string, 1 | -1>> | undefined;
  readonly projection?: Readonly<Record<string, 1>> | undefined;
  readonly hint?: Readonly<Record<string, 1>> | undefined;
  readonly skip?: number;
  readonly limit: number;
  /** The time limit of the command on the server. */
  readonly maxTimeMS?: number;
}

/**
 * Finds documents with a plain command, because a cursor of the driver takes more processor time
 * (docs/adr/0008-mongodb.md).
 */
export async function find(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  { filter, limit, ...options }: FindCommand,
): Promise<StoredDocument[]> {
  if (limit === 0) return [];
  const { cursor } = await collection.db.command(
    {
      find: collection.collectionName,
      filter,
      limit,
      ...COMMAND_TIMEOUT,
      ...options,
      // One more than `limit`, so that the first batch is also the last and the server opens no cursor.
      batchSize: limit + 1,
      readConcern: session ? undefined : collection.readConcern,
    },
    { session, ...collection.bsonOptions },
  );
  if (Number(cursor.id) === 0) return cursor.firstBatch;
  // The documents exceed 16 MiB, the maximum of one response. A page of a list of the API is always smaller.
  const killCursors = { killCursors: collection.collectionName, cursors: [Long.fromValue(cursor.id)] };
  await collection.db.command(killCursors, { session });
  return collection.find(filter, { session, limit, ...COMMAND_TIMEOUT, ...options }).toArray();
}

/** Finds the first document that matches a filter. */
export async function findOne(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  filter: Filter<StoredDocument>,
  options: Omit<FindCommand, 'filter' | 'limit'> = {},
): Promise<StoredDocument | undefined> {
  return (await find(collection, session, { filter, limit: 1, ...options }))[0];
}
