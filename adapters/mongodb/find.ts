import { type ClientSession, type Collection, type Filter, Long, MongoNetworkError, MongoServerError } from 'mongodb';
import { COMMAND_TIMEOUT, isTransient } from './connection.ts';
import type { StoredDocument } from './documents.ts';

const MAX_KILL_ATTEMPT_COUNT = 20;

/** A find command (https://www.mongodb.com/docs/manual/reference/command/find/) of at most `limit` documents. */
export interface FindCommand {
  readonly filter: Filter<StoredDocument>;
  readonly sort?: Readonly<Record<string, 1 | -1>> | undefined;
  readonly projection?: Readonly<Record<string, 1>> | undefined;
  readonly hint?: Readonly<Record<string, 1>> | undefined;
  readonly skip?: number;
  readonly limit: number;
  /** The time limit of the command. */
  readonly maxTimeMS?: number;
}

/**
 * Finds a page of documents, or some by their ids, with a command of its own: a cursor of the driver takes more processor
 * time (docs/adr/0008-mongodb.md). As the driver does, it asks once more where an answer is lost.
 */
export async function find(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  { filter, limit, ...options }: FindCommand,
): Promise<StoredDocument[]> {
  if (limit === 0) return [];
  const ask = () =>
    collection.db.command(
      {
        find: collection.collectionName,
        filter,
        limit,
        ...COMMAND_TIMEOUT,
        ...options,
        // One more than there can be, so that the database need not be asked whether there is one.
        batchSize: limit + 1,
        readConcern: session ? undefined : collection.readConcern,
      },
      { session, ...collection.bsonOptions },
    );
  const { cursor } = await ask().catch((error) => {
    if (session || !isLost(error)) throw error;
    return ask();
  });
  if (Number(cursor.id) === 0) return cursor.firstBatch;
  // It is more than the 16 MiB of a reply, which pages of our records never are.
  await killCursor(collection, session, Long.fromValue(cursor.id));
  return collection.find(filter, { session, limit, ...COMMAND_TIMEOUT, ...options }).toArray();
}

/**
 * Ends a cursor. Only the mongos that opened a cursor knows it, and the driver chooses a random mongos for each command. A
 * cursor that is not found in `MAX_KILL_ATTEMPTS_COUNT` attempts times out on its server.
 */
async function killCursor(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  cursor: Long,
): Promise<void> {
  const command = { killCursors: collection.collectionName, cursors: [cursor] };
  for (let attempt = 1; attempt <= MAX_KILL_ATTEMPT_COUNT; attempt++) {
    const { cursorsKilled } = await collection.db.command(command, { session });
    if (cursorsKilled.length > 0) return;
  }
}

/** Finds the document for which a filter holds. */
export async function findOne(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  filter: Filter<StoredDocument>,
  options: Omit<FindCommand, 'filter' | 'limit'> = {},
): Promise<StoredDocument | undefined> {
  return (await find(collection, session, { filter, limit: 1, ...options }))[0];
}

/** Whether a command was sent and not done: another server may do it, or the same one on another connection. */
function isLost(error: unknown): boolean {
  if (error instanceof MongoNetworkError) return true;
  return error instanceof MongoServerError && isTransient(error) && !error.hasErrorLabel('SystemOverloadedError');
}
