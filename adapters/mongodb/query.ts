import type { Filter } from 'mongodb';
import type { AnyRecord, Condition, Query } from '../persistence/record-store.ts';
import type { StoreSchema } from '../persistence/store-schemas.ts';
import { type StoredDocument, toFilterText } from './documents.ts';

/**
 * Returns the filter for the records of a workspace that match all conditions (adapters/persistence/record-store.ts).
 */
export function toFilter(workspaceId: string, where: readonly Condition<AnyRecord>[]): Filter<StoredDocument> {
  const workspace = { workspaceId: toFilterText(workspaceId) };
  return where.length === 0 ? workspace : { ...workspace, $and: where.map(toConditionFilter) };
}

/**
 * Returns the sort order of a query. Returns `undefined` if at most one record can match, because one record needs no
 * sort.
 */
export function toSort(
  { by, order, where }: Query<AnyRecord>,
  schema: StoreSchema,
): Record<string, 1 | -1> | undefined {
  if (where.some((condition) => canMatchOnlyOne(condition, schema))) return undefined;
  const direction = order === 'asc' ? 1 : -1;
  return { [by]: direction, _id: direction };
}

/** Returns the projection to some fields and the ID. Without `fields`, returns `undefined`, which reads all fields. */
export function toProjection(fields: readonly string[] | undefined): Record<string, 1> | undefined {
  return fields && Object.fromEntries(['id', ...fields].map((field) => [toStoredName(field), 1]));
}

function toStoredName(field: string): string {
  return field === 'id' ? '_id' : field;
}

function toConditionFilter(condition: Condition<AnyRecord>): Filter<StoredDocument> {
  const field = toStoredName(condition.field);
  if ('in' in condition) {
    const values = condition.in.map(toFilterText);
    return { [field]: values.length === 1 ? values[0] : { $in: values } };
  }
  // A scan of all texts with `$indexOfBytes` takes 0.8 to 0.86 of the time that a scan with a regular expression takes.
  if ('contains' in condition) {
    const text = toFilterText(condition.contains);
    return text === condition.contains
      ? { $expr: { $gte: [createPositionExpression(text, field), 0] } }
      : { [field]: text };
  }
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition;
  return { [field]: { $gte: from, $lte: to } };
}

function canMatchOnlyOne(condition: Condition<AnyRecord>, { unique }: StoreSchema): boolean {
  const isUnique = condition.field === 'id' || unique.includes(condition.field);
  return isUnique && 'in' in condition && condition.in.length <= 1;
}

/**
 * Returns an expression for the position of a text in a field. It is negative if the field does not contain the text.
 */
function createPositionExpression(text: string, field: string): object {
  return { $indexOfBytes: [`$${field}`, { $literal: text }] };
}
