import type { Filter } from 'mongodb';
import type { Condition, Entity, Field, Query, RecordSchema } from '../../core/shared/record-store.ts';
import type { StoredDocument } from './documents.ts';
import { indexKey } from './indexes.ts';

/** The filter of conditions (core/shared/record-store.ts) in a workspace. */
export function filterOf<T>(workspaceId: string, where: readonly Condition<T>[]): Filter<StoredDocument> {
  return where.length === 0 ? { workspaceId } : { workspaceId, $and: where.map(conditionOf) };
}

/** The order of a query; `undefined` where one record matches at most, so that no plan sorts it. */
export function sortOf<T extends Entity>(
  { by, order, where }: Query<T>,
  kind: RecordSchema<T>,
): Record<string, 1 | -1> | undefined {
  if (where.some((condition) => isOfOne(condition, kind))) return undefined;
  const direction = order === 'asc' ? 1 : -1;
  return { [by]: direction, _id: direction };
}

/** What has only these fields read, and the id; `undefined`, which is all of them, where none are named. */
export function projectionOf(fields: readonly string[] | undefined): Record<string, 1> | undefined {
  return fields && Object.fromEntries(['id', ...fields].map((field) => [nameOf(field), 1]));
}

/** The indexes that can serve a list, by their keys. */
export interface ListIndexes<T> {
  /** The index in the order of the list. Its leading fields are conditions of the list. */
  readonly ordered?: Record<string, 1> | undefined;
  /** An index that contains only the records that match a condition, in another order. */
  readonly narrow?: { readonly key: Record<string, 1>; readonly condition: Condition<T> } | undefined;
}

/**
 * Finds the indexes for a list. Without a hint, MongoDB tries all indexes, each for up to 0.3 of the collection, if a filter
 * matches few records or the page number is high. That exceeds the time limit. Other values are preferred to flags, which
 * match more records. Of equal indexes the last one is used. A list by ids or unique values needs no hint.
 */
export function indexesOf<T extends Entity>(
  { where, by }: Query<T>,
  { indexes, unique }: RecordSchema<T>,
): ListIndexes<T> {
  const equalities = where.filter((condition) => 'is' in condition || 'in' in condition);
  if (equalities.some(({ field }) => field === 'id' || unique[field] !== undefined)) return {};
  const conditionOn = (field: string | undefined) => equalities.find((condition) => condition.field === field);
  const isNarrow = (fields: readonly string[]) => fields.slice(0, -1).some((it) => !isFlag(conditionOn(it)));
  const sought = indexes.filter((fields) => fields.slice(0, -1).every((field) => conditionOn(field)));
  const ordered = sought.filter((fields) => fields.at(-1) === by);
  const best = ordered.findLast(isNarrow) ?? ordered.findLast(({ length }) => length > 1) ?? ordered[0];
  if (best === undefined || isNarrow(best)) return { ordered: best && indexKey(best) };
  const other = sought.findLast(isNarrow);
  const condition = conditionOn(other?.[0]);
  return { ordered: indexKey(best), narrow: other && condition && { key: indexKey(other), condition } };
}

function isFlag<T>(condition: Condition<T> | undefined): boolean {
  if (condition === undefined) return false;
  if ('is' in condition) return typeof condition.is === 'boolean';
  return 'in' in condition && condition.in.length > 0 && condition.in.every((value) => typeof value === 'boolean');
}

function nameOf(field: string): string {
  return field === 'id' ? '_id' : field;
}

function conditionOf<T>(condition: Condition<T>): Filter<StoredDocument> {
  const field = nameOf(condition.field);
  if ('is' in condition) return { [field]: condition.is };
  if ('in' in condition) return { [field]: { $in: condition.in } };
  // A look for bytes takes mongod 0.8 to 0.86 of what a regular expression does, where each text is looked through.
  if ('contains' in condition) return { $expr: { $gte: [placeOf(condition.contains, field), 0] } };
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition;
  return { [field]: { $gte: from, $lte: to } };
}

function isOfOne<T extends Entity>(condition: Condition<T>, { unique }: RecordSchema<T>): boolean {
  const isUnique = condition.field === 'id' || unique[condition.field as Field<T>] !== undefined;
  return isUnique && ('is' in condition || ('in' in condition && condition.in.length <= 1));
}

/** Where the text is in that of a field, as an expression; below 0 where it is not. */
function placeOf(text: string, field: string): object {
  return { $indexOfBytes: [`$${field}`, { $literal: text }] };
}
