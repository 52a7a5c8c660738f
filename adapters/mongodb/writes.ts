import { type ClientSession, type Collection, type Filter, MongoServerError } from 'mongodb';
import { CoreError } from '../../core/shared/core-error.ts';
import type { StoreSchema } from '../persistence/store-schemas.ts';
import { COMMAND_TIMEOUT } from './client.ts';
import type { StoredDocument } from './documents.ts';
import { LockTimeout, MAX_TIME_EXPIRED_CODE, unwrapTransient } from './errors.ts';
import { findOne } from './find.ts';
import { toUniqueIndexName } from './indexes.ts';

const DUPLICATE_KEY_CODE = 11_000;
/**
 * The error codes of a write that waits too long: MaxTimeMSExpired, or WriteConcernFailed if the URI has a
 * `wtimeoutMS`.
 */
const WRITE_TIMEOUT_CODES: ReadonlySet<unknown> = new Set([MAX_TIME_EXPIRED_CODE, 64]);
const WAITED_TOO_LONG = 'A write waited too long for another transaction or for the majority.';

/**
 * Waits until a majority has the matching documents with these revisions, and resolves to their number. A read is not
 * enough: the primary alone responds to it, and a failover undoes changes that only the primary has. This write changes
 * nothing, but waits, like every write, until a majority has everything that the primary has. Transactions do not need
 * this write, because their commit waits (docs/adr/0008-mongodb.md).
 */
export async function confirm(
  collection: Collection<StoredDocument>,
  filter: Filter<StoredDocument>,
  revisions: readonly string[],
): Promise<number> {
  const filterWithRevisions = { ...filter, revision: { $in: revisions } };
  const options = { hint: { _id: 1 }, ...COMMAND_TIMEOUT } as const;
  return (await mapWriteErrors(undefined, () => collection.updateMany(filterWithRevisions, { $set: {} }, options)))
    .matchedCount;
}

/**
 * Inserts a document. `filter` must select this document by its ID. Rejects with `conflict` if the ID or a unique value
 * is taken. Also succeeds if an earlier attempt has inserted the document, but the response to that attempt was lost.
 */
export async function insert(
  collection: Collection<StoredDocument>,
  document: StoredDocument,
  filter: Filter<StoredDocument>,
  schema: StoreSchema,
): Promise<void> {
  try {
    await mapWriteErrors(schema, () => collection.insertOne(document, COMMAND_TIMEOUT));
  } catch (error) {
    const wasInserted = async () => (await confirm(collection, filter, [document.revision])) === 1;
    if (!(error instanceof CoreError) || !(await wasInserted())) throw error;
  }
}

/**
 * Inserts documents in a transaction. Rejects with `conflict` if a unique value or all IDs are taken: then it has
 * changed nothing. Otherwise, resolves to whether it has inserted all of them.
 */
export async function insertInTransaction(
  collection: Collection<StoredDocument>,
  documents: readonly StoredDocument[],
  schema: StoreSchema,
  session: ClientSession,
): Promise<boolean> {
  if (documents.length === 0) return true;
  for (const document of documents) await requireUnique(collection, document, schema, session);
  // A duplicate-key error would end the transaction. If an ID is taken, its upsert does nothing.
  const upserts = documents.map((document) => ({
    updateOne: {
      filter: { workspaceId: document.workspaceId, _id: document._id },
      update: { $setOnInsert: document },
      upsert: true,
    },
  }));
  const { upsertedCount } = await mapWriteErrors(schema, () =>
    collection.bulkWrite(upserts, { session, ordered: false, ...COMMAND_TIMEOUT }),
  );
  if (upsertedCount === 0) throw schema.createTakenError('id');
  return upsertedCount === documents.length;
}

/**
 * Rejects with `conflict` if a unique value is taken. In a transaction, inserts and updates check this before they
 * write, because a duplicate-key error would end the transaction.
 */
export async function requireUnique(
  collection: Collection<StoredDocument>,
  document: StoredDocument,
  { unique, createTakenError }: StoreSchema,
  session: ClientSession,
): Promise<void> {
  const { workspaceId, _id } = document;
  for (const field of unique) {
    const filter = { workspaceId, [field]: document[field], _id: { $ne: _id } };
    if (await findOne(collection, session, filter)) throw createTakenError(field);
  }
}

/**
 * Runs a write. Rejects with `conflict` if an ID or a unique value of `schema` is taken, and with `LockTimeout` if the
 * write waited too long.
 */
export async function mapWriteErrors<T>(schema: StoreSchema | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (caught) {
    const error = unwrapTransient(caught);
    if (!(error instanceof MongoServerError)) throw error;
    if (WRITE_TIMEOUT_CODES.has(error.code)) throw new LockTimeout(WAITED_TOO_LONG, { cause: error });
    if (error.code !== DUPLICATE_KEY_CODE || !schema) throw error;
    // The message of the database has the name of the index.
    const field = schema.unique.find((name) => error.message.includes(` ${toUniqueIndexName(name)} `));
    throw schema.createTakenError(field ?? 'id');
  }
}
