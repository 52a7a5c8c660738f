import type { Condition, Contains, Field, Order, Range } from '../../core/shared/record-store.ts';
import { compareCodePoints } from '../../core/shared/text.ts';

/** Returns a function that tests whether a record meets all conditions (core/shared/record-store.ts). */
export function createPredicate<T>(where: readonly Condition<T>[]): (record: T) => boolean {
  const tests = where.map(createTest);
  return (record) => tests.every((matches) => matches(record));
}

function createTest<T>(condition: Condition<T>): (record: T) => boolean {
  const { field } = condition;
  if ('is' in condition) return (record) => record[field] === condition.is;
  if ('in' in condition) {
    const values = new Set<unknown>(condition.in);
    return (record) => getValues(record, field).some((value) => values.has(value));
  }
  if (isContains(condition)) return (record) => (record[field] as string).includes(condition.contains);
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition;
  return (record) => (record[field] as number) >= from && (record[field] as number) <= to;
}

/** Returns the conditions without those that match every record: each flag is in `[false, true]`. */
export function dropIneffectiveConditions<T>(where: readonly Condition<T>[]): readonly Condition<T>[] {
  return where.filter((condition) => ![false, true].every((flag) => 'in' in condition && condition.in.includes(flag)));
}

/** Returns the values of a condition that compares a field with values, or `undefined` for another condition. */
export function getSoughtValues<T>(condition: Condition<T>): readonly unknown[] | undefined {
  if ('is' in condition) return [condition.is];
  return 'in' in condition ? [...new Set(condition.in)] : undefined;
}

export function isContains<T>(condition: Condition<T>): condition is Contains<T> {
  return 'contains' in condition;
}

export function isRange<T>(condition: Condition<T>): condition is Range<T> {
  return !isContains(condition) && getSoughtValues(condition) === undefined;
}

/** Returns the values by which a record is found: the items of an array, or the value itself. */
export function getValues<T>(record: T, field: Field<T>): readonly unknown[] {
  const value: unknown = record[field];
  return Array.isArray(value) ? value : [value];
}

/** Returns a comparison by a field, then by id in the same direction. Strings are compared by code point. */
export function createComparison<T extends { readonly id: string }>(
  by: Field<T>,
  order: Order,
): (a: T, b: T) => number {
  const direction = order === 'asc' ? 1 : -1;
  return (a, b) => direction * (compareValues(a[by], b[by]) || compareCodePoints(a.id, b.id));
}

function compareValues(a: unknown, b: unknown): number {
  return typeof a === 'string' ? compareCodePoints(a, b as string) : (a as number) - (b as number);
}
