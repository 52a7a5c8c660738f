import {
  type ClientSession,
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoError,
  MongoServerError,
} from 'mongodb';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { Field, GlobalRecordStore, Query, RecordSchema, RecordStore } from '../persistence/record-store.ts';
import { COMMAND_TIMEOUT, LIST_TIMEOUT_MS } from './client.ts';
import { type StoredDocument, toDocument, toRecord } from './documents.ts';
import { LockTimeout, MAX_TIME_EXPIRED_CODE, SearchTimeout } from './errors.ts';
import { type FindCommand, find, findOne } from './find.ts';
import { toUniqueIndexName } from './indexes.ts';
import { type ListPlan, planList, toFilter, toProjection, toSort } from './query.ts';

const DUPLICATE_KEY_CODE = 11_000;
const BAD_VALUE_CODE = 2;
/** The error codes of a write that waits too long: MaxTimeMSExpired, or WriteConcernFailed if the URI has a `wtimeoutMS`. */
const WRITE_TIMEOUT_CODES: ReadonlySet<unknown> = new Set([MAX_TIME_EXPIRED_CODE, 64]);

/**
 * Runs work on a collection: in the current transaction if there is one, else directly and with retries. `scope` is the id of
 * the workspace, or of the record of a global store, that the work uses. With it, bulkhead.ts limits the work on an unavailable
 * shard.
 */
export type RunOnCollection = <T>(
  name: string,
  scope: string,
  work: (collection: Collection<StoredDocument>, session: ClientSession | undefined) => Promise<T>,
) => Promise<T>;

/** The result of an attempt if another change won: the record changed after the attempt had read it. */
export const WRITE_CONFLICT = Symbol('write conflict');

/** Runs the commands of record stores, directly or in a transaction. */
export interface Executor {
  readonly runOnCollection: RunOnCollection;
  /** Runs work that changes records. A transaction must know whether it has changed anything. */
  readonly runChange: RunOnCollection;
  /**
   * Runs an attempt to update the record with a key, after earlier updates of this record. Repeats the attempt until it ends
   * without a write conflict. Rejects with `conflict` if that takes too long.
   */
  readonly runUpdate: <T>(key: string, attempt: () => Promise<T | typeof WRITE_CONFLICT>) => Promise<T>;
  /** Returns whether the database is known to be a sharded cluster. */
  isSharded(): boolean;
}

/** A record store that can also read and add records for several calls with one command. */
export interface BatchedRecordStore<T extends Entity> extends RecordStore<T> {
  /** Returns the records with these ids in any of the workspaces: the given fields, the id and the workspace of each. */
  getManyAcrossWorkspaces(
    workspaceIds: readonly string[],
    ids: readonly string[],
    fields: readonly Field<T>[] | undefined,
  ): Promise<readonly Pick<T, 'id' | 'workspaceId'>[]>;
  /**
   * Adds each record as `add` does: unlike `addMany`, it returns a promise for each record, so that the failure of one does
   * not fail the others.
   */
  addIndependently(records: readonly T[]): Promise<readonly Promise<void>[]>;
}

/** Creates the store of the records of a schema. `name` is the name of their collection. */
export function createRecordStore<T extends Entity>(
  name: string,
  schema: RecordSchema<T>,
  { runOnCollection, runChange, runUpdate, isSharded }: Executor,
): BatchedRecordStore<T> {
  const addOne = (document: StoredDocument) => {
    const filter = { workspaceId: document.workspaceId, _id: document._id };
    return runChange(name, filter.workspaceId, (collection, session) =>
      insert(collection, document, filter, schema.unique, session),
    );
  };

  /** Finds records by their ids. Without the hint, MongoDB would also consider the indexes that begin with the workspace. */
  const findById = (
    scope: string,
    filter: Filter<StoredDocument>,
    limit: number,
    fields: readonly string[] | undefined,
  ) =>
    runOnCollection(name, scope, async (collection, session) => {
      const command = { filter, limit, projection: toProjection(fields), hint: { _id: 1 } } as const;
      return (await find(collection, session, command)).map(toRecord<T>);
    });

  return {
    get: async (workspaceId, id, fields) => (await findById(workspaceId, { workspaceId, _id: id }, 1, fields))[0],

    getMany: (workspaceId, ids, fields) =>
      findById(workspaceId, { workspaceId, _id: { $in: ids } }, ids.length, fields),

    getManyAcrossWorkspaces: (workspaceIds, ids, fields) => {
      const filter = { workspaceId: { $in: workspaceIds }, _id: { $in: ids } };
      return findById(
        workspaceIds.join(),
        filter,
        workspaceIds.length * ids.length,
        fields && ['workspaceId', ...fields],
      );
    },

    list: (workspaceId, query) =>
      runOnCollection(name, workspaceId, async (collection, session) => {
        const plan = planList(query, schema);
        // A failed command would end the transaction, so a transaction tries no hint.
        const hint = session ? undefined : await chooseIndex(collection, workspaceId, plan);
        const command: FindCommand = {
          filter: toFilter(workspaceId, plan.where),
          sort: toSort(query, schema),
          projection: toProjection(query.fields),
          skip: query.skip,
          limit: query.take,
          maxTimeMS: LIST_TIMEOUT_MS,
        };
        const found = await find(collection, session, { ...command, hint }).catch((error) => {
          if (hint && isMissingHint(error)) return find(collection, session, command);
          throw isTimeLimitExceeded(error) ? toSlowListError(error, query, isSharded()) : error;
        });
        return found.map(toRecord<T>);
      }),

    listById: (workspaceId, after, limit) =>
      runOnCollection(name, workspaceId, async (collection, session) => {
        const filter = { workspaceId, _id: { $gt: after } };
        return (await find(collection, session, { filter, sort: { _id: 1 }, limit })).map(toRecord<T>);
      }),

    count: (workspaceId, where) =>
      runOnCollection(name, workspaceId, (collection, session) =>
        collection.countDocuments(toFilter(workspaceId, where), { session, ...COMMAND_TIMEOUT }),
      ),

    add: (record) => addOne(toDocument(record, schema.expires)),

    addMany: (records) => {
      const documents = records.map((record) => toDocument(record, schema.expires));
      const scope = records[0]?.workspaceId ?? '';
      return runChange(name, scope, (collection, session) => insertMany(collection, documents, schema.unique, session));
    },

    addIndependently: async (records) => {
      const documents = records.map((record) => toDocument(record, schema.expires));
      const conflicts = await runChange(name, records[0]?.workspaceId ?? '', async (collection, session) => {
        try {
          return await insertMany(collection, documents, schema.unique, session);
        } catch (error) {
          // Caught here, because `runOnCollection` would retry the whole batch.
          if (error instanceof LockTimeout) return undefined;
          throw error;
        }
      }).catch((error) => {
        if (error instanceof MongoBulkWriteError) return undefined;
        throw error;
      });
      // If a lock timeout, or an error of one document, has failed the whole batch, each record is added on its own.
      if (!conflicts) return documents.map(addOne);
      return documents.map(async (_, i) => {
        if (conflicts.has(i)) throw new CoreError('conflict', conflicts.get(i) as string);
      });
    },

    update: (workspaceId, id, change) => {
      // The revisions of attempts that got no response. The stored record may have one of them.
      const unconfirmedRevisions = new Set<string>();
      let replacedRevision = '';
      const attempt = () =>
        runChange(name, workspaceId, async (collection, session) => {
          const found = await findOne(collection, session, { workspaceId, _id: id });
          if (!found) return undefined;
          const current = toRecord<T>(found);
          const filter = { workspaceId, _id: id };
          // The record needs no write, but the result is returned only after a majority has the record.
          const confirmCurrent = async () =>
            session || (await confirm(collection, filter, [found.revision])) === 1 ? current : WRITE_CONFLICT;
          if (unconfirmedRevisions.has(found.revision)) return confirmCurrent();
          if (unconfirmedRevisions.size > 0 && found.revision !== replacedRevision)
            throw new Error('It is unknown whether the change was stored.');
          const next = change(current);
          if (next === current) return confirmCurrent();
          const document = toDocument(next, schema.expires);
          if (session) await requireUnique(collection, document, schema.unique, session);
          replacedRevision = found.revision;
          unconfirmedRevisions.add(document.revision);
          const { matchedCount } = await mapWriteErrors(schema.unique, () =>
            collection.replaceOne({ ...filter, revision: replacedRevision }, document, { session, ...COMMAND_TIMEOUT }),
          ).catch(async (error) => {
            // A conflict is reported only after a majority has the other record. `[]` matches no revision: only the wait matters.
            if (!session && error instanceof CoreError) await confirm(collection, filter, []);
            throw error;
          });
          unconfirmedRevisions.delete(document.revision);
          return matchedCount === 1 ? next : WRITE_CONFLICT;
        });
      return runUpdate(`${name}/${id}`, attempt);
    },

    remove: (workspaceId, id) => removeRecord(name, workspaceId, { workspaceId, _id: id }, runChange),
  };
}

/** Creates a store of records that are unique over all workspaces. `name` is the name of their collection. */
export function createGlobalRecordStore<E extends { readonly id: string }>(
  name: string,
  { runOnCollection, runChange }: Executor,
): GlobalRecordStore<E> {
  return {
    get: (id) =>
      runOnCollection(name, id, async (collection, session) => {
        const found = await findOne(collection, session, { _id: id });
        return found ? toRecord<E>(found) : undefined;
      }),
    list: (after, limit) =>
      runOnCollection(name, 'all', async (collection, session) => {
        const filter = { _id: { $gt: after } };
        return (await find(collection, session, { filter, sort: { _id: 1 }, limit })).map(toRecord<E>);
      }),
    add: (entry) => {
      const document = toDocument(entry);
      return runChange(name, entry.id, (collection, session) =>
        insert(collection, document, { _id: entry.id }, {}, session),
      );
    },
    remove: (id) => removeRecord(name, id, { _id: id }, runChange),
  };
}

/**
 * Removes the only document that can match a filter. Resolves to whether the document existed. The document also existed if an
 * earlier attempt found it, because that attempt may have removed it, and its response may have been lost. Sends the delete
 * command even if there is nothing to delete: it waits until a majority has all earlier removals, so that a failover cannot
 * make `false` wrong.
 */
function removeRecord(
  name: string,
  scope: string,
  filter: Filter<StoredDocument>,
  runChange: RunOnCollection,
): Promise<boolean> {
  let wasFound = false;
  return runChange(name, scope, async (collection, session) => {
    const wasFoundByEarlierAttempt = wasFound;
    wasFound ||= (await findOne(collection, session, filter, { projection: { _id: 1 } })) !== undefined;
    const { deletedCount } = await mapWriteErrors({}, () =>
      collection.deleteOne(filter, { session, ...COMMAND_TIMEOUT }),
    );
    return deletedCount === 1 || wasFoundByEarlierAttempt;
  });
}

/** The unique fields of a schema, each with the error message for a duplicate. */
type UniqueMessages = Readonly<Record<string, string | undefined>>;

/**
 * Waits until a majority has the matching documents with these revisions, and resolves to their number. A read is not enough:
 * the primary alone responds to it, and a failover undoes changes that only the primary has. This write changes nothing, but
 * waits, like every write, until a majority has everything that the primary has. Transactions do not need this write, because
 * their commit waits (docs/adr/0008-mongodb.md).
 */
async function confirm(
  collection: Collection<StoredDocument>,
  filter: Filter<StoredDocument>,
  revisions: readonly string[],
): Promise<number> {
  const filterWithRevisions = { ...filter, revision: { $in: revisions } };
  const options = { hint: { _id: 1 }, ...COMMAND_TIMEOUT } as const;
  return (await mapWriteErrors({}, () => collection.updateMany(filterWithRevisions, { $set: {} }, options)))
    .matchedCount;
}

/**
 * Inserts the only document that can match `filter`. Also succeeds if an earlier attempt has inserted the document, but the
 * response to that attempt was lost.
 */
async function insert(
  collection: Collection<StoredDocument>,
  document: StoredDocument,
  filter: Filter<StoredDocument>,
  unique: UniqueMessages,
  session: ClientSession | undefined,
): Promise<void> {
  if (session) {
    if (await findOne(collection, session, filter)) throw new CoreError('conflict', findConflictMessage(unique));
    await requireUnique(collection, document, unique, session);
  }
  try {
    await mapWriteErrors(unique, () => collection.insertOne(document, { session, ...COMMAND_TIMEOUT }));
  } catch (error) {
    const wasInserted = async () => (await confirm(collection, filter, [document.revision])) === 1;
    if (session || !(error instanceof CoreError) || !(await wasInserted())) throw error;
  }
}

/** Inserts each document as `insert` does. Resolves to the message of each conflict, by the position of its document. */
async function insertMany(
  collection: Collection<StoredDocument>,
  documents: readonly StoredDocument[],
  unique: UniqueMessages,
  session: ClientSession | undefined,
): Promise<ReadonlyMap<number, string>> {
  if (documents.length === 0) return new Map();
  try {
    await collection.insertMany(documents, { session, ordered: false, ...COMMAND_TIMEOUT });
    return new Map();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    const otherFailure = failures.find(({ code }) => code !== DUPLICATE_KEY_CODE);
    // `error.code` is the code of the first write error. A later write error may show that a shard is unavailable: a retry helps.
    if (otherFailure) error.code = otherFailure.code;
    if (WRITE_TIMEOUT_CODES.has(error.code)) throw toLockTimeout(error);
    // If the command as a whole failed, the driver wraps its own error, or the error of the server.
    if (failures.length === 0) throw error.errorResponse instanceof MongoError ? error.errorResponse : error;
    if (otherFailure || error.result.getWriteConcernError()) throw error;
    const duplicates = failures.map(({ index }) => documents[index] as StoredDocument);
    const [workspaceIds, ids] = [duplicates.map((it) => it.workspaceId), duplicates.map(({ _id }) => _id)];
    const filter = { workspaceId: { $in: [...new Set(workspaceIds)] }, _id: { $in: ids } };
    const revisions = duplicates.map(({ revision }) => revision);
    const confirmedCount = session ? 0 : await confirm(collection, filter, revisions);
    const ownFilter = { ...filter, revision: { $in: revisions } };
    const found = await find(collection, session, { filter: ownFilter, limit: confirmedCount });
    if (found.length < confirmedCount) throw new Error('It is unknown whether the records were stored.');
    const ownRevisions = new Set(found.map(({ revision }) => revision));
    const conflicts = failures.filter(({ index }) => !ownRevisions.has((documents[index] as StoredDocument).revision));
    return new Map(conflicts.map(({ index, errmsg }) => [index, findConflictMessage(unique, errmsg)]));
  }
}

/** Rejects with `conflict` if a unique value is taken. Transactions check this first: a duplicate-key error would end them. */
async function requireUnique(
  collection: Collection<StoredDocument>,
  document: StoredDocument,
  unique: UniqueMessages,
  session: ClientSession,
): Promise<void> {
  const { workspaceId, _id } = document;
  for (const field of Object.keys(unique)) {
    const filter = { workspaceId, [field]: document[field], _id: { $ne: _id } };
    if (await findOne(collection, session, filter)) throw new CoreError('conflict', unique[field] as string);
  }
}

/**
 * Runs a write. Rejects with `conflict` and the message of the field if a unique value is taken, and with `LockTimeout` if the
 * write waited too long.
 */
async function mapWriteErrors<T>(unique: UniqueMessages, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    if (WRITE_TIMEOUT_CODES.has(error.code)) throw toLockTimeout(error);
    if (error.code !== DUPLICATE_KEY_CODE) throw error;
    throw new CoreError('conflict', findConflictMessage(unique, error.message));
  }
}

function toLockTimeout(cause: MongoServerError): LockTimeout {
  return new LockTimeout('A write waited too long for another transaction or for the majority.', { cause });
}

/** Returns the error message for a duplicate. The message of the database contains the name of the index. */
function findConflictMessage(unique: UniqueMessages, databaseMessage = ''): string {
  const field = Object.keys(unique).find((name) => databaseMessage.includes(` ${toUniqueIndexName(name)} `));
  return (field && unique[field]) || 'There is a record with this id.';
}

/** The maximum number of documents to sort. For more documents, it is faster to read a page from the index in sort order. */
const MAX_SORTED_COUNT = 1_000;

/**
 * Chooses the index for a query: `narrow` if at most `MAX_SORTED_COUNT` records match its condition, so that they can be read
 * and sorted. Otherwise `ordered`, which needs no sort.
 */
async function chooseIndex<T>(
  collection: Collection<StoredDocument>,
  workspaceId: string,
  { ordered, narrow }: ListPlan<T>,
): Promise<Record<string, 1> | undefined> {
  if (!narrow) return ordered;
  const filter = toFilter(workspaceId, [narrow.condition]);
  const count = await collection.countDocuments(filter, { limit: MAX_SORTED_COUNT + 1, ...COMMAND_TIMEOUT });
  return count > MAX_SORTED_COUNT ? ordered : narrow.key;
}

const LIST_TIMEOUT_MESSAGE = 'The list takes too long to read. Add filters to narrow it, or request an earlier page.';

function isTimeLimitExceeded(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED_CODE;
}

/**
 * Returns the error of a list that took too long. If its query can scan many records, the request is rejected with `invalid`.
 * Any other query is slow only if the database is busy, so its error allows a retry. In a sharded cluster, an unavailable shard
 * causes the same error, so every query may be retried, except a search: its retry would take as long again.
 */
function toSlowListError<T>(error: MongoServerError, { where, skip }: Query<T>, isSharded: boolean): Error {
  const isSearch = where.some((condition) => 'contains' in condition);
  if (isSharded) return isSearch ? new SearchTimeout(error.message, { cause: error }) : error;
  const isScan = skip > 0 || where.some((condition) => !('in' in condition));
  return isScan ? new CoreError('invalid', LIST_TIMEOUT_MESSAGE) : error;
}

/** Returns whether an error means that an operator has dropped the index of a hint. MongoDB can then use another index. */
function isMissingHint(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === BAD_VALUE_CODE && /\bhint\b/.test(error.message);
}
