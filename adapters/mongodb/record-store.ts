import { randomUUID } from 'node:crypto';
import { type ClientSession, type Collection, type Filter, MongoBulkWriteError } from 'mongodb';
import { CoreError } from '../../core/shared/core-error.ts';
import type { AnyRecord, RecordStore, SumQuery } from '../persistence/record-store.ts';
import type { StoreSchema } from '../persistence/store-schemas.ts';
import { COMMAND_TIMEOUT } from './client.ts';
import { type StoredDocument, toDocument, toFilterText, toRecord } from './documents.ts';
import { unwrapTransient } from './errors.ts';
import { type FindCommand, find, findOne } from './find.ts';
import { findList } from './list.ts';
import { toFilter, toProjection } from './query.ts';
import { WRITE_CONFLICT } from './write-conflicts.ts';
import { confirm, insert, insertInTransaction, mapWriteErrors, requireUnique } from './writes.ts';

/** The number of sums that one response has. Parsing them blocks the event loop for a few milliseconds. */
const SUM_BATCH_SIZE = 500;

/** Runs work on a collection: in the current transaction if there is one, else directly and with retries. */
type RunOnCollection = <T>(
  name: string,
  work: (collection: Collection<StoredDocument>, session: ClientSession | undefined) => Promise<T>,
) => Promise<T>;

/** Runs the commands of record stores, directly or in a transaction. */
export interface CommandExecutor {
  readonly runOnCollection: RunOnCollection;
  /** Runs work that changes records. A transaction must know whether it has changed anything. */
  readonly runChange: RunOnCollection;
  /**
   * Runs an attempt to update the records with these keys. Repeats the attempt until it ends without a write conflict.
   * Rejects with `conflict` if that takes too long. In a transaction, runs the attempt once: a write conflict ends the
   * whole transaction, which then runs again.
   */
  readonly runUpdate: <T>(keys: readonly string[], attempt: () => Promise<T | typeof WRITE_CONFLICT>) => Promise<T>;
}

/** A record store that can also read and add records for several calls with one command. */
export interface BatchedRecordStore extends RecordStore<AnyRecord> {
  /**
   * Returns the records with these IDs in any of the workspaces: the given fields, the ID and the workspace of each.
   */
  getManyAcrossWorkspaces(
    workspaceIds: readonly string[],
    ids: readonly string[],
    fields: readonly string[] | undefined,
  ): Promise<readonly AnyRecord[]>;
  /** Adds each record as `add` does. A conflict of one record does not fail the others. */
  addIndependently(records: readonly AnyRecord[]): Promise<readonly Promise<void>[]>;
}

/** Creates the store of the records of a schema. */
export function createMongodbRecordStore(
  schema: StoreSchema,
  { runOnCollection, runChange, runUpdate }: CommandExecutor,
): BatchedRecordStore {
  const { name } = schema;
  const addOne = (document: StoredDocument) => {
    const filter = { workspaceId: document.workspaceId, _id: document._id };
    return runChange(name, async (collection, session) => {
      if (session) await insertInTransaction(collection, [document], schema, session);
      else await insert(collection, document, filter, schema);
    });
  };

  const read = (command: FindCommand): Promise<AnyRecord[]> =>
    runOnCollection(name, async (collection, session) => (await find(collection, session, command)).map(toRecord));
  /**
   * Finds records by their IDs. Without the hint, MongoDB would also consider the indexes that begin with the
   * workspace.
   */
  const findById = (filter: Filter<StoredDocument>, limit: number, fields: readonly string[] | undefined) =>
    read({ filter, limit, projection: toProjection(fields), hint: { _id: 1 } });

  const addIndependently: BatchedRecordStore['addIndependently'] = async (records) => {
    if (records.length === 0) return [];
    const documents = records.map((record) => toDocument(record, schema));
    const isAdded = await runChange(name, async (collection) => {
      try {
        await collection.insertMany(documents, { ordered: false, ...COMMAND_TIMEOUT });
        return true;
      } catch (caught) {
        const error = unwrapTransient(caught);
        if (!(error instanceof MongoBulkWriteError)) throw error;
        return false;
      }
    });
    // After an error, each record is added on its own. A record that the batch has added is recognized by its revision.
    return documents.map((document) => (isAdded ? Promise.resolve() : addOne(document)));
  };

  /**
   * Replaces the records with these IDs, and returns the new records. If another change came first, the command ends
   * the transaction.
   */
  const updateInTransaction = async (
    collection: Collection<StoredDocument>,
    session: ClientSession,
    workspaceId: string,
    ids: readonly string[],
    change: (current: AnyRecord) => AnyRecord,
  ): Promise<AnyRecord[]> => {
    const found = await find(collection, session, { filter: { workspaceId, _id: { $in: ids } }, limit: ids.length });
    const records = found.map(toRecord);
    const changed = records.map(change);
    const documents = changed.filter((it, i) => it !== records[i]).map((it) => toDocument(it, schema));
    for (const document of documents) await requireUnique(collection, document, schema, session);
    const replacements = documents.map((replacement) => ({
      replaceOne: { filter: { workspaceId, _id: replacement._id }, replacement },
    }));
    if (replacements.length > 0) {
      await mapWriteErrors(schema, () =>
        collection.bulkWrite(replacements, { session, ordered: false, ...COMMAND_TIMEOUT }),
      );
    }
    return changed;
  };

  return {
    get: async (workspaceId, id, fields) => (await findById(toIdFilter(workspaceId, id), 1, fields))[0],

    getMany: (workspaceId, ids, fields) =>
      findById(toFilter(workspaceId, [{ field: 'id', in: ids }]), ids.length, fields),

    getManyAcrossWorkspaces: (workspaceIds, ids, fields) =>
      findById(
        { workspaceId: { $in: workspaceIds.map(toFilterText) }, _id: { $in: ids.map(toFilterText) } },
        workspaceIds.length * ids.length,
        fields && ['workspaceId', ...fields],
      ),

    list: (workspaceId, query) =>
      runOnCollection(name, async (collection, session) =>
        (await findList(collection, session, workspaceId, query, schema)).map(toRecord),
      ),

    listById: (workspaceId, after, limit) =>
      read({ filter: { workspaceId, _id: { $gt: after } }, sort: { _id: 1 }, limit }),

    count: (workspaceId, where) =>
      runOnCollection(name, (collection, session) =>
        collection.countDocuments(toFilter(workspaceId, where), { session, ...COMMAND_TIMEOUT }),
      ),

    sum: (workspaceId: string, { where, groupBy, columns }: SumQuery<AnyRecord>) => {
      const group = {
        _id: Object.fromEntries(groupBy.map((field) => [field, `$${field}`])),
        ...Object.fromEntries(columns.map((column) => [column, { $sum: `$${column}` }])),
      };
      return runOnCollection(name, async (collection, session) => {
        const stages = [{ $match: toFilter(workspaceId, where) }, { $group: group }];
        const options = { session, batchSize: SUM_BATCH_SIZE, ...COMMAND_TIMEOUT };
        const found = await collection.aggregate(stages, options).toArray();
        return found.map(({ _id, ...sums }) => ({ ..._id, ...sums }));
      });
    },

    add: (record) => addOne(toDocument(record, schema)),

    addIndependently,

    addMany: async (records) => {
      const areAdded = await runChange(name, async (collection, session) => {
        if (!session) throw new Error('`addMany` was called outside of a transaction.');
        const documents = records.map((record) => toDocument(record, schema));
        return insertInTransaction(collection, documents, schema, session);
      });
      // `runChange` must not see this error: some records may be added, and it would count that as no change.
      if (!areAdded) throw schema.createTakenError('id');
    },

    update: (workspaceId, id, change) => {
      // The revisions of attempts that got no response. The stored record may have one of them.
      const unconfirmedRevisions = new Set<string>();
      let replacedRevision = '';
      const attempt = () =>
        runChange(name, async (collection, session) => {
          if (session) return (await updateInTransaction(collection, session, workspaceId, [id], change))[0];
          const filter = toIdFilter(workspaceId, id);
          const found = await findOne(collection, undefined, filter);
          if (!found) return undefined;
          const current = toRecord(found);
          // The record needs no write, but the result is returned only after a majority has the record.
          const confirmCurrent = async () =>
            (await confirm(collection, filter, [found.revision])) === 1 ? current : WRITE_CONFLICT;
          if (unconfirmedRevisions.has(found.revision)) return confirmCurrent();
          if (unconfirmedRevisions.size > 0 && found.revision !== replacedRevision)
            throw new Error(
              'It is unknown whether the change was stored. Check the record before you repeat the change.',
            );
          const next = change(current);
          if (next === current) return confirmCurrent();
          const document = toDocument(next, schema);
          replacedRevision = found.revision;
          unconfirmedRevisions.add(document.revision);
          const { matchedCount } = await mapWriteErrors(schema, () =>
            collection.replaceOne({ ...filter, revision: replacedRevision }, document, COMMAND_TIMEOUT),
          ).catch(async (error) => {
            // A conflict is reported only after a majority has the other record. `[]` matches no revision: only the
            // wait matters.
            if (error instanceof CoreError) await confirm(collection, filter, []);
            throw error;
          });
          unconfirmedRevisions.delete(document.revision);
          return matchedCount === 1 ? next : WRITE_CONFLICT;
        });
      return runUpdate([`${name}/${id}`], attempt);
    },

    updateMany: (workspaceId, ids, change) =>
      runUpdate(
        ids.map((id) => `${name}/${id}`),
        () =>
          runChange(name, async (collection, session) => {
            if (!session) throw new Error('`updateMany` was called outside of a transaction.');
            return updateInTransaction(collection, session, workspaceId, ids, change);
          }),
      ),

    increment: (workspaceId, id, field) =>
      runUpdate([`${name}/${id}`], () =>
        runChange(name, async (collection, session) => {
          const change = { $inc: { [field]: 1 }, $set: { revision: randomUUID() } };
          const options = { session, upsert: true, returnDocument: 'after', ...COMMAND_TIMEOUT } as const;
          const filter = toIdFilter(workspaceId, id);
          const changed = await mapWriteErrors(schema, () => collection.findOneAndUpdate(filter, change, options));
          return changed?.[field];
        }),
      ),

    remove: (workspaceId, id) => removeRecord(name, toIdFilter(workspaceId, id), runChange),
  };
}

function toIdFilter(workspaceId: string, id: string) {
  return { workspaceId: toFilterText(workspaceId), _id: toFilterText(id) };
}

/**
 * Removes a document, which `filter` selects by its ID. Resolves to whether the document existed. If an earlier attempt
 * found it, it existed: that attempt may have removed it, and the response may have been lost. Sends the delete command
 * even if there is nothing to delete, because it waits until a majority has all earlier removals. So a failover cannot
 * make `false` wrong.
 */
function removeRecord(name: string, filter: Filter<StoredDocument>, runChange: RunOnCollection): Promise<boolean> {
  let wasFound = false;
  return runChange(name, async (collection, session) => {
    const wasFoundByEarlierAttempt = wasFound;
    wasFound ||= (await findOne(collection, session, filter, { projection: { _id: 1 } })) !== undefined;
    const { deletedCount } = await mapWriteErrors(undefined, () =>
      collection.deleteOne(filter, { session, ...COMMAND_TIMEOUT }),
    );
    return deletedCount === 1 || wasFoundByEarlierAttempt;
  });
}
