import { type ClientSession, type Collection, type Filter, Long, MongoNetworkError, MongoServerError } from 'mongodb';
import { COMMAND_TIMEOUT } from './client.ts';
import type { StoredDocument } from './documents.ts';
import { isTransient } from './errors.ts';

const MAX_KILL_ATTEMPT_COUNT = 20;

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
 * Finds documents with a plain command, because a cursor of the driver takes more processor time (docs/adr/0008-mongodb.md). Like the
 * driver, retries once after a failure of the connection or of the server, but not in a transaction.
 */
export async function find(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  { filter, limit, ...options }: FindCommand,
): Promise<StoredDocument[]> {
  if (limit === 0) return [];
  const sendCommand = () =>
    collection.db.command(
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
  const { cursor } = await sendCommand().catch((error) => {
    if (session || !isRetryableRead(error)) throw error;
    return sendCommand();
  });
  if (Number(cursor.id) === 0) return cursor.firstBatch;
  // The documents exceed 16 MiB, the maximum of one response. A page of a list of the API is always smaller.
  await killCursor(collection, session, Long.fromValue(cursor.id));
  return collection.find(filter, { session, limit, ...COMMAND_TIMEOUT, ...options }).toArray();
}

/**
 * Closes a cursor on its server. Only the mongos that opened a cursor knows it, and the driver chooses a random mongos for
 * each command. A cursor that is not found in `MAX_KILL_ATTEMPT_COUNT` attempts times out on its server.
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

/** Finds the first document that matches a filter. */
export async function findOne(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  filter: Filter<StoredDocument>,
  options: Omit<FindCommand, 'filter' | 'limit'> = {},
): Promise<StoredDocument | undefined> {
  return (await find(collection, session, { filter, limit: 1, ...options }))[0];
}

/** Returns whether a connection or a server failed during a read, so that a retry on another connection or server may succeed. */
function isRetryableRead(error: unknown): boolean {
  if (error instanceof MongoNetworkError) return true;
  return error instanceof MongoServerError && isTransient(error) && !error.hasErrorLabel('SystemOverloadedError');
}
