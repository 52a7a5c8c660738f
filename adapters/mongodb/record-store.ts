import {
  type ClientSession,
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoError,
  MongoServerError,
} from 'mongodb';
import { CoreError } from '../../core/shared/core-error.ts';
import type {
  Entity,
  Field,
  GlobalRecordStore,
  Query,
  RecordSchema,
  RecordStore,
} from '../../core/shared/record-store.ts';
import { COMMAND_TIMEOUT, LockTimeout, MAX_LIST_MS, SearchTimeout, TIME_EXPIRED } from './connection.ts';
import { type StoredDocument, toDocument, toRecord } from './documents.ts';
import { type FindCommand, find, findOne } from './find.ts';
import { uniqueIndexName } from './indexes.ts';
import { filterOf, indexesOf, type ListIndexes, projectionOf, sortOf } from './query.ts';

const DUPLICATE_KEY = 11_000;
const BAD_VALUE = 2;
/** The error codes of a write that waits too long: MaxTimeMSExpired, or WriteConcernFailed if the URI has a `wtimeoutMS`. */
const TIMEOUT_CODES: ReadonlySet<unknown> = new Set([TIME_EXPIRED, 64]);

/**
 * Works on a collection, in the current transaction if there is one. Otherwise it may retry the work. The scope names the
 * data of the work, which is on one shard: the id of a workspace, or of an entry of a registry.
 */
export type OnCollection = <T>(
  name: string,
  scope: string,
  work: (collection: Collection<StoredDocument>, session: ClientSession | undefined) => Promise<T>,
) => Promise<T>;

/** Does one work after another of those that are about the same thing. */
export type SerializeByKey = <T>(thing: string, work: () => Promise<T>) => Promise<T>;

/** What `attempt` gets where others changed the record between its reading and its writing. */
export const WRITE_CONFLICT = Symbol('others changed it meanwhile');

/** Repeats an attempt until it does not lose. Refuses with `conflict` what loses too often. */
export type RetryOnConflict = <T>(attempt: () => Promise<T | typeof WRITE_CONFLICT>) => Promise<T>;

export interface Executor {
  readonly on: OnCollection;
  readonly serializeByKey: SerializeByKey;
  readonly retryOnConflict: RetryOnConflict;
  /** Returns whether the database is known to be a sharded cluster. */
  isSharded(): boolean;
}

/** Records of which many may be read and added at once for several callers. */
export interface BatchedRecordStore<T extends Entity> extends RecordStore<T> {
  /** Those of the ids that exist in any of the workspaces; of `fields` as `get`, and the workspace of each. */
  getAcross(
    workspaceIds: readonly string[],
    ids: readonly string[],
    fields: readonly Field<T>[] | undefined,
  ): Promise<readonly Pick<T, 'id' | 'workspaceId'>[]>;
  /** As `add` of each: what keeps one of them from being written fails that one alone. */
  addEach(records: readonly T[]): Promise<readonly Promise<void>[]>;
}

/** The records of a kind in the collection of its name. */
export function createRecordStore<T extends Entity>(
  name: string,
  kind: RecordSchema<T>,
  { on, serializeByKey: inTurn, retryOnConflict: contend, isSharded }: Executor,
): BatchedRecordStore<T> {
  const addOne = (document: StoredDocument) => {
    const one = { workspaceId: document.workspaceId, _id: document._id };
    return on(name, one.workspaceId, (collection, session) => insert(collection, document, one, kind.unique, session));
  };

  /** Left alone, MongoDB would weigh the index of the ids and that of the workspace against each other. */
  const byId = (scope: string, filter: Filter<StoredDocument>, limit: number, fields: readonly string[] | undefined) =>
    on(name, scope, async (collection, session) => {
      const command = { filter, limit, projection: projectionOf(fields), hint: { _id: 1 } } as const;
      return (await find(collection, session, command)).map(toRecord<T>);
    });

  return {
    get: async (workspaceId, id, fields) => (await byId(workspaceId, { workspaceId, _id: id }, 1, fields))[0],

    getMany: (workspaceId, ids, fields) => byId(workspaceId, { workspaceId, _id: { $in: ids } }, ids.length, fields),

    getAcross: (workspaceIds, ids, fields) => {
      const filter = { workspaceId: { $in: workspaceIds }, _id: { $in: ids } };
      return byId(workspaceIds.join(), filter, workspaceIds.length * ids.length, fields && ['workspaceId', ...fields]);
    },

    list: (workspaceId, query) =>
      on(name, workspaceId, async (collection, session) => {
        // A command that is refused ends its transaction: there, no hint is tried.
        const hint = session ? undefined : await chooseIndex(collection, workspaceId, indexesOf(query, kind));
        const command: FindCommand = {
          filter: filterOf(workspaceId, query.where),
          sort: sortOf(query, kind),
          projection: projectionOf(query.fields),
          skip: query.skip,
          limit: query.take,
          maxTimeMS: MAX_LIST_MS,
        };
        const found = await find(collection, session, { ...command, hint }).catch((error) => {
          if (hint && isOfHint(error)) return find(collection, session, command);
          throw isTooSlow(error) ? slowList(error, query, isSharded()) : error;
        });
        return found.map(toRecord<T>);
      }),

    listById: (workspaceId, after, limit) =>
      on(name, workspaceId, async (collection, session) => {
        if (limit === 0) return [];
        const rest = { workspaceId, _id: { $gt: after } };
        const options = { session, sort: { _id: 1 }, limit, batchSize: limit, ...COMMAND_TIMEOUT } as const;
        return (await collection.find(rest, options).toArray()).map(toRecord<T>);
      }),

    count: (workspaceId, where) =>
      on(name, workspaceId, (collection, session) =>
        collection.countDocuments(filterOf(workspaceId, where), { session, ...COMMAND_TIMEOUT }),
      ),

    add: (record) => addOne(toDocument(record, kind.expires)),

    addMany: (records) => {
      const documents = records.map((record) => toDocument(record, kind.expires));
      const scope = records[0]?.workspaceId ?? '';
      return on(name, scope, (collection, session) => insertMany(collection, documents, kind.unique, session));
    },

    addEach: async (records) => {
      const documents = records.map((record) => toDocument(record, kind.expires));
      const refusals = await on(name, records[0]?.workspaceId ?? '', async (collection, session) => {
        try {
          return await insertMany(collection, documents, kind.unique, session);
        } catch (error) {
          if (error instanceof LockTimeout) return undefined;
          throw error;
        }
      }).catch((error) => {
        if (error instanceof MongoBulkWriteError) return undefined;
        throw error;
      });
      if (!refusals) return documents.map(addOne);
      return documents.map(async (_, i) => {
        if (refusals.has(i)) throw new CoreError('conflict', refusals.get(i) as string);
      });
    },

    update: (workspaceId, id, change) => {
      const unanswered = new Set<string>();
      let replaced = '';
      const attempt = () =>
        on(name, workspaceId, async (collection, session) => {
          const found = await findOne(collection, session, { workspaceId, _id: id });
          if (!found) return undefined;
          const current = toRecord<T>(found);
          const one = { workspaceId, _id: id };
          const confirmed = async () =>
            session || (await confirm(collection, one, [found.revision])) === 1 ? current : WRITE_CONFLICT;
          if (unanswered.has(found.revision)) return confirmed();
          if (unanswered.size > 0 && found.revision !== replaced)
            throw new Error('Whether a change was kept is unknown.');
          const next = change(current);
          if (next === current) return confirmed();
          const document = toDocument(next, kind.expires);
          if (session) await requireUnique(collection, document, kind.unique, session);
          replaced = found.revision;
          unanswered.add(document.revision);
          const { matchedCount } = await mapDuplicateKey(kind.unique, () =>
            collection.replaceOne({ ...one, revision: replaced }, document, { session, ...COMMAND_TIMEOUT }),
          ).catch(async (error) => {
            if (!session && error instanceof CoreError) await confirm(collection, one, []);
            throw error;
          });
          unanswered.delete(document.revision);
          return matchedCount === 1 ? next : WRITE_CONFLICT;
        });
      return inTurn(`${name}/${id}`, () => contend(attempt));
    },

    remove: (workspaceId, id) => removeRecord(name, workspaceId, { workspaceId, _id: id }, on),
  };
}

/** The entries of a registry in the collection of its name. */
export function createGlobalRecordStore<E extends { readonly id: string }>(
  name: string,
  { on }: Executor,
): GlobalRecordStore<E> {
  return {
    get: (id) =>
      on(name, id, async (collection, session) => {
        const found = await findOne(collection, session, { _id: id });
        return found ? toRecord<E>(found) : undefined;
      }),
    list: (after, limit) =>
      on(name, 'all', async (collection, session) => {
        if (limit === 0) return [];
        const options = { session, sort: { _id: 1 }, limit, batchSize: limit, ...COMMAND_TIMEOUT } as const;
        return (await collection.find({ _id: { $gt: after } }, options).toArray()).map(toRecord<E>);
      }),
    add: (entry) => {
      const document = toDocument(entry);
      return on(name, entry.id, (collection, session) => insert(collection, document, { _id: entry.id }, {}, session));
    },
    remove: (id) => removeRecord(name, id, { _id: id }, on),
  };
}

/**
 * Removes the one document that a filter finds. If the first attempt found it, a later one need not. Deletes also if there is
 * nothing to delete, so that `false` waits until the majority has the earlier removal.
 */
function removeRecord(name: string, scope: string, one: Filter<StoredDocument>, on: OnCollection): Promise<boolean> {
  let wasThere = false;
  return on(name, scope, async (collection, session) => {
    const isRepeated = wasThere;
    wasThere ||= (await findOne(collection, session, one, { projection: { _id: 1 } })) !== undefined;
    const { deletedCount } = await mapDuplicateKey({}, () =>
      collection.deleteOne(one, { session, ...COMMAND_TIMEOUT }),
    );
    return deletedCount === 1 || isRepeated;
  });
}

type Unique = Readonly<Record<string, string | undefined>>;

/**
 * Waits until a majority has the documents of these revisions, and resolves to their number. A read is not enough: the
 * primary answers it alone, and a failover undoes changes that only the primary has. This write changes nothing, but waits,
 * like every write, until the majority has everything that the primary has. Transactions do not need it, because their
 * commit waits (docs/adr/0008-mongodb.md).
 */
async function confirm(
  collection: Collection<StoredDocument>,
  filter: Filter<StoredDocument>,
  revisions: readonly string[],
): Promise<number> {
  const ofRevisions = { ...filter, revision: { $in: revisions } };
  const options = { hint: { _id: 1 }, ...COMMAND_TIMEOUT } as const;
  return (await mapDuplicateKey({}, () => collection.updateMany(ofRevisions, { $set: {} }, options))).matchedCount;
}

/** Inserts the one document that a filter finds, once: that it is there already after a lost answer is success. */
async function insert(
  collection: Collection<StoredDocument>,
  document: StoredDocument,
  one: Filter<StoredDocument>,
  unique: Unique,
  session: ClientSession | undefined,
): Promise<void> {
  if (session) {
    if (await findOne(collection, session, one)) throw new CoreError('conflict', conflictMessage(unique));
    await requireUnique(collection, document, unique, session);
  }
  try {
    await mapDuplicateKey(unique, () => collection.insertOne(document, { session, ...COMMAND_TIMEOUT }));
  } catch (error) {
    const isMine = async () => (await confirm(collection, one, [document.revision])) === 1;
    if (session || !(error instanceof CoreError) || !(await isMine())) throw error;
  }
}

/** As `insert` for many, each for itself: resolves to the sentences that refuse some, by their indexes. */
async function insertMany(
  collection: Collection<StoredDocument>,
  documents: readonly StoredDocument[],
  unique: Unique,
  session: ClientSession | undefined,
): Promise<ReadonlyMap<number, string>> {
  if (documents.length === 0) return new Map();
  try {
    await collection.insertMany(documents, { session, ordered: false, ...COMMAND_TIMEOUT });
    return new Map();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    const other = failures.find(({ code }) => code !== DUPLICATE_KEY);
    // `error.code` is that of the first write error. A later one may mean that a shard is unavailable, so that a retry helps.
    if (other) error.code = other.code;
    if (TIMEOUT_CODES.has(error.code)) throw blocked(error);
    // The driver wraps what failed the command as a whole: an error of its own, or what the server said.
    if (failures.length === 0) throw error.errorResponse instanceof MongoError ? error.errorResponse : error;
    if (other || error.result.getWriteConcernError()) throw error;
    const refusedOnes = failures.map(({ index }) => documents[index] as StoredDocument);
    const [workspaceIds, ids] = [refusedOnes.map((it) => it.workspaceId), refusedOnes.map(({ _id }) => _id)];
    const filter = { workspaceId: { $in: [...new Set(workspaceIds)] }, _id: { $in: ids } };
    const revisions = refusedOnes.map(({ revision }) => revision);
    const confirmed = session ? 0 : await confirm(collection, filter, revisions);
    const ofMine = { ...filter, revision: { $in: revisions } };
    const there = await find(collection, session, { filter: ofMine, limit: confirmed });
    if (there.length < confirmed) throw new Error('Whether records were kept is unknown.');
    const mine = new Set(there.map(({ revision }) => revision));
    const refused = failures.filter(({ index }) => !mine.has((documents[index] as StoredDocument).revision));
    return new Map(refused.map(({ index, errmsg }) => [index, conflictMessage(unique, errmsg)]));
  }
}

/** Refuses in a transaction what is taken, before the database does: its refusal would end the transaction. */
async function requireUnique(
  collection: Collection<StoredDocument>,
  document: StoredDocument,
  unique: Unique,
  session: ClientSession,
): Promise<void> {
  const { workspaceId, _id } = document;
  for (const field of Object.keys(unique)) {
    const other = { workspaceId, [field]: document[field], _id: { $ne: _id } };
    if (await findOne(collection, session, other)) throw new CoreError('conflict', unique[field] as string);
  }
}

/** Rejects a duplicate of a unique field with the sentence of that field, and a write that waited too long with `Blocked`. */
async function mapDuplicateKey<T>(unique: Unique, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    if (TIMEOUT_CODES.has(error.code)) throw blocked(error);
    if (error.code !== DUPLICATE_KEY) throw error;
    throw new CoreError('conflict', conflictMessage(unique, error.message));
  }
}

function blocked(cause: MongoServerError): LockTimeout {
  return new LockTimeout('A write waited too long for another transaction or for the majority.', { cause });
}

/** The sentence that refuses a duplicate, by what the database says: it names the index. */
function conflictMessage(unique: Unique, message = ''): string {
  const field = Object.keys(unique).find((name) => message.includes(` ${uniqueIndexName(name)} `));
  return (field && unique[field]) || 'There is a record with this id.';
}

/** The maximum number of documents that are sorted: with more, a page is found sooner in the index of the order. */
const MAX_SORTED_COUNT = 1_000;

/** Chooses the index of the order, unless few records match the narrowing condition: these are read and sorted. */
async function chooseIndex<T>(
  collection: Collection<StoredDocument>,
  workspaceId: string,
  { ordered, narrow }: ListIndexes<T>,
): Promise<Record<string, 1> | undefined> {
  if (!narrow) return ordered;
  const filter = filterOf(workspaceId, [narrow.condition]);
  const count = await collection.countDocuments(filter, { limit: MAX_SORTED_COUNT + 1, ...COMMAND_TIMEOUT });
  return count > MAX_SORTED_COUNT ? ordered : narrow.key;
}

const TOO_SLOW = 'The list takes too long to read: narrow it with more filters, or ask for an earlier page.';

function isTooSlow(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === TIME_EXPIRED;
}

/**
 * Returns the error of a list that took too long. If the list scans many records, the request is rejected. A first page
 * without such a scan is slow only if the database is busy, so it may be retried. In a sharded cluster, an unavailable shard
 * causes the same error, so every list may be retried except a search, which would take as long again.
 */
function slowList<T>(error: MongoServerError, { where, skip }: Query<T>, isSharded: boolean): Error {
  const isSearch = where.some((condition) => 'contains' in condition);
  if (isSharded) return isSearch ? new SearchTimeout(error.message, { cause: error }) : error;
  const isScan = skip > 0 || where.some((condition) => !('is' in condition || 'in' in condition));
  return isScan ? new CoreError('invalid', TOO_SLOW) : error;
}

/** Whether the index of a hint is not there: somebody has dropped it under us, and MongoDB may choose another one. */
function isOfHint(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === BAD_VALUE && /\bhint\b/.test(error.message);
}
