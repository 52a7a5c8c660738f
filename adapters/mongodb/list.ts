import { type ClientSession, type Collection, MongoServerError } from 'mongodb';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { LIST_TIMEOUT_MS, LIST_TOO_SLOW, type Query, type RecordSchema } from '../persistence/record-store.ts';
import { COMMAND_TIMEOUT } from './client.ts';
import type { StoredDocument } from './documents.ts';
import { MAX_TIME_EXPIRED_CODE } from './errors.ts';
import { type FindCommand, find } from './find.ts';
import { type ListPlan, planList, toFilter, toProjection, toSort } from './query.ts';

const BAD_VALUE_CODE = 2;
/**
 * The maximum number of documents to sort. For more documents, it is faster to read a page from the index in sort
 * order.
 */
const MAX_SORTED_COUNT = 1_000;

/** Finds the documents of a list in its order. If that takes too long, rejects with the error of `toSlowListError`. */
export async function findList<T extends Entity>(
  collection: Collection<StoredDocument>,
  session: ClientSession | undefined,
  workspaceId: string,
  query: Query<T>,
  schema: RecordSchema<T>,
  rejectsSlowLists: boolean,
): Promise<StoredDocument[]> {
  const plan = planList(query, schema);
  // A command fails if the index of its hint is missing. A failed command would end a transaction, so a transaction
  // tries no hint.
  const hint = session ? undefined : await chooseIndex(collection, workspaceId, plan);
  const command: FindCommand = {
    filter: toFilter(workspaceId, plan.where),
    sort: toSort(query, schema),
    projection: toProjection(query.fields),
    skip: query.skip,
    limit: query.take,
    maxTimeMS: LIST_TIMEOUT_MS,
  };
  return find(collection, session, { ...command, hint }).catch((error) => {
    if (hint && isMissingHint(error)) return find(collection, session, command);
    throw isTimeLimitExceeded(error) ? toSlowListError(error, query, rejectsSlowLists) : error;
  });
}

/**
 * Chooses the index for a query: `narrow` if at most `MAX_SORTED_COUNT` records match its condition, so that they can
 * be read and sorted. Otherwise `ordered`, which needs no sort.
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

function isTimeLimitExceeded(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED_CODE;
}

/**
 * Returns the error of a list that took too long: with `rejectsSlowLists`, `invalid` for a query that can scan many
 * records. Any other query is slow only if the database is busy.
 */
function toSlowListError<T>(error: Error, { where, skip }: Query<T>, rejectsSlowLists: boolean): Error {
  const isScan = skip > 0 || where.some((condition) => !('in' in condition));
  return isScan && rejectsSlowLists ? new CoreError('invalid', ...LIST_TOO_SLOW) : error;
}

/**
 * Returns whether an error means that the index of a hint does not exist. Without the hint, MongoDB can use another
 * index.
 */
function isMissingHint(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === BAD_VALUE_CODE && /\bhint\b/.test(error.message);
}
