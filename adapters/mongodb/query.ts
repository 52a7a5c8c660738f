import type { Filter } from 'mongodb';
import type { Condition, Entity, Field, Kind, Query } from '../../core/shared/records.ts';
import type { Stored } from './documents.ts';
import { indexKey } from './indexes.ts';

/** The filter of conditions (core/shared/records.ts) in a workspace. */
export function filterOf<T>(workspaceId: string, where: readonly Condition<T>[]): Filter<Stored> {
  return where.length === 0 ? { workspaceId } : { workspaceId, $and: where.map(conditionOf) };
}

/** The order of a query; `undefined` where one record matches at most, so that no plan sorts it. */
export function sortOf<T extends Entity>(
  { by, order, where }: Query<T>,
  kind: Kind<T>,
): Record<string, 1 | -1> | undefined {
  if (where.some((condition) => isOfOne(condition, kind))) return undefined;
  const direction = order === 'asc' ? 1 : -1;
  return { [by]: direction, _id: direction };
}

/** What has only these fields read, and the id; `undefined`, which is all of them, where none are named. */
export function projectionOf(fields: readonly string[] | undefined): Record<string, 1> | undefined {
  return fields && Object.fromEntries(['id', ...fields].map((field) => [nameOf(field), 1]));
}

/**
 * The index whose fields are those that a query seeks by value, in the order that it asks for. MongoDB left alone would
 * try all indexes for a page far behind, again and again. `undefined` where it has more to choose from.
 */
export function hintOf<T extends Entity>({ where, by }: Query<T>, { indexes }: Kind<T>): Record<string, 1> | undefined {
  const narrows = (condition: Condition<T>) => !('contains' in condition) && condition.field !== by;
  const sought = new Set<string>(where.filter(narrows).map(({ field }) => field));
  const isFit = (fields: readonly string[]) =>
    fields.at(-1) === by && fields.length === sought.size + 1 && fields.every((it) => it === by || sought.has(it));
  const index = indexes.find(isFit);
  return index && indexKey(index);
}

function nameOf(field: string): string {
  return field === 'id' ? '_id' : field;
}

function conditionOf<T>(condition: Condition<T>): Filter<Stored> {
  const field = nameOf(condition.field);
  if ('is' in condition) return { [field]: condition.is };
  if ('in' in condition) return { [field]: { $in: condition.in } };
  // A look for bytes takes mongod 0.8 to 0.86 of what a regular expression does, where each text is looked through.
  if ('contains' in condition) return { $expr: { $gte: [placeOf(condition.contains, field), 0] } };
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition;
  return { [field]: { $gte: from, $lte: to } };
}

function isOfOne<T extends Entity>(condition: Condition<T>, { unique }: Kind<T>): boolean {
  const isUnique = condition.field === 'id' || unique[condition.field as Field<T>] !== undefined;
  return isUnique && ('is' in condition || ('in' in condition && condition.in.length <= 1));
}

/** Where the text is in that of a field, as an expression; below 0 where it is not. */
function placeOf(text: string, field: string): object {
  return { $indexOfBytes: [`$${field}`, { $literal: text }] };
}
