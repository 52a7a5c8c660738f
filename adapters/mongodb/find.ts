import type { ClientSession, Collection, Filter, Sort } from 'mongodb';
import { isPassing } from './connection.ts';
import type { Stored } from './documents.ts';

/** How long the database may look for what is asked for, and how long what is written may wait there. */
export const MOST_TIME = { maxTimeMS: 2_000 };

/** What is to be found; the names are those of MongoDB's find command. */
export interface Finding {
  readonly filter: Filter<Stored>;
  readonly sort?: Sort | undefined;
  readonly projection?: Readonly<Record<string, 1>> | undefined;
  readonly hint?: Readonly<Record<string, 1>> | undefined;
  readonly skip?: number;
  readonly limit: number;
}

/**
 * Finds documents with a command of its own, which takes two thirds of the processor time that a cursor of the driver
 * takes. What that reply does not hold, and what failed because the database was away, is left to a cursor, which asks
 * again.
 */
export async function find(
  collection: Collection<Stored>,
  session: ClientSession | undefined,
  { filter, limit, ...options }: Finding,
): Promise<Stored[]> {
  if (limit === 0) return [];
  try {
    const { cursor } = await collection.db.command(
      {
        find: collection.collectionName,
        filter,
        limit,
        ...options,
        ...MOST_TIME,
        // One more than there can be, so that the database need not be asked whether there is one.
        batchSize: limit + 1,
        readConcern: session ? undefined : collection.readConcern,
      },
      { session, ...collection.bsonOptions },
    );
    if (Number(cursor.id) === 0) return cursor.firstBatch;
  } catch (error) {
    if (session || !isPassing(error)) throw error;
  }
  return collection.find(filter, { session, limit, ...options, ...MOST_TIME }).toArray();
}

/** Finds the document for which a filter holds. */
export async function findOne(
  collection: Collection<Stored>,
  session: ClientSession | undefined,
  filter: Filter<Stored>,
  options: Omit<Finding, 'filter' | 'limit'> = {},
): Promise<Stored | undefined> {
  return (await find(collection, session, { filter, limit: 1, ...options }))[0];
}
