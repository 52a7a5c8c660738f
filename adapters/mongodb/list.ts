import { type ClientSession, type Collection, MongoServerError } from 'mongodb';
import { type ListPlan, MAX_SORTED_COUNT, planList } from '../persistence/list-plan.ts';
import { type AnyRecord, createSlowListError, LIST_TIMEOUT_MS, type Query } from '../persistence/record-store.ts';
import type { StoreSchema } from '../persistence/store-schemas.ts';
import { COMMAND_TIMEOUT } from './client.ts';
import type { StoredDocument } from './documents.ts';
import { MAX_TIME_EXPIRED_CODE } from './errors.ts';
import { type FindCommand, find } from './find.ts';
import { createIndexKey } from './indexes.ts';
import { toFilter, toProjection, toSort } from './query.ts';

const BAD_VALUE_CODE = 2;

/** Finds the documents of a list in its order. If that takes too long, rejects with the error of `toSlowListError`. */
export async function findList(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  workspaceId: string,
  query: Query<AnyRecord>,
  schema: StoreSchema,
): Promise<StoredDocument[]> {
  // A command fails if the index of its hint is missing. A failed command would end a transaction, so a transaction
  // tries no hint.
  const hint = session ? undefined : await chooseIndex(collection, workspaceId, planList(schema, query, true));
  const command: FindCommand = {
    filter: toFilter(workspaceId, query.where),
    sort: toSort(query, schema),
    projection: toProjection(query.fields),
    skip: query.skip,
    limit: query.take,
    maxTimeMS: LIST_TIMEOUT_MS,
  };
  return find(collection, session, { ...command, hint }).catch((error) => {
    if (hint && isMissingHint(error)) return find(collection, session, command);
    throw isTimeLimitExceeded(error) ? toSlowListError(error, query, session) : error;
  });
}

/**
 * Chooses the index to give to MongoDB as a hint (adapters/persistence/list-plan.ts). Without a hint, MongoDB tries all
 * indexes if a filter matches few records or the page number is high. Each trial reads up to 30 % of the collection,
 * which exceeds the time limit.
 */
async function chooseIndex(
  collection: Collection<StoredDocument>,
  workspaceId: string,
  { lookup, ordered, selective }: ListPlan,
): Promise<Record<string, 1> | undefined> {
  if (lookup.length > 0 || !ordered) return undefined;
  for (const { fields, condition } of ordered.isSelective ? [] : selective) {
    const filter = toFilter(workspaceId, [condition]);
    const count = await collection.countDocuments(filter, { limit: MAX_SORTED_COUNT + 1, ...COMMAND_TIMEOUT });
    if (count <= MAX_SORTED_COUNT) return createIndexKey(fields);
  }
  return createIndexKey(ordered.fields);
}

function isTimeLimitExceeded(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED_CODE;
}

/**
 * Returns the error of a list that took too long: `invalid` for a query that can scan many records. Any other query is
 * slow only if the database is busy. In a transaction, returns the error of the database: the time limit has ended the
 * transaction, which would be committed after an `invalid`.
 */
function toSlowListError(error: Error, { where, skip }: Query<AnyRecord>, session: ClientSession | undefined): Error {
  const isScan = skip > 0 || where.some((condition) => !('in' in condition));
  return isScan && !session ? createSlowListError() : error;
}

/**
 * Returns whether an error means that the index of a hint does not exist. Without the hint, MongoDB can use another
 * index.
 */
function isMissingHint(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === BAD_VALUE_CODE && /\bhint\b/.test(error.message);
}
