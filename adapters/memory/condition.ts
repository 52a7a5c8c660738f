import type { Condition, Contains, Field, Order, Range } from '../../core/shared/record-store.ts';
import { compareCodePoints } from '../../core/shared/text.ts';

/** What conditions (core/shared/record-store.ts) mean of a record in memory: all of them hold. */
export function predicate<T>(where: readonly Condition<T>[]): (record: T) => boolean {
  const tests = where.map(test);
  return (record) => tests.every((holds) => holds(record));
}

function test<T>(condition: Condition<T>): (record: T) => boolean {
  const { field } = condition;
  if ('is' in condition) return (record) => record[field] === condition.is;
  if ('in' in condition) {
    const values = new Set<unknown>(condition.in);
    return (record) => valuesOf(record, field).some((value) => values.has(value));
  }
  if (isTerm(condition)) return (record) => (record[field] as string).includes(condition.contains);
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition;
  return (record) => (record[field] as number) >= from && (record[field] as number) <= to;
}

/** The conditions that ask for something: a flag is `false` or `true` anyway. */
export function asking<T>(where: readonly Condition<T>[]): readonly Condition<T>[] {
  return where.filter((condition) => ![false, true].every((flag) => 'in' in condition && condition.in.includes(flag)));
}

/** The values one of which a field must have for a condition to hold; `undefined` where it asks for something else. */
export function valuesSought<T>(condition: Condition<T>): readonly unknown[] | undefined {
  if ('is' in condition) return [condition.is];
  return 'in' in condition ? [...new Set(condition.in)] : undefined;
}

export function isTerm<T>(condition: Condition<T>): condition is Contains<T> {
  return 'contains' in condition;
}

export function isRange<T>(condition: Condition<T>): condition is Range<T> {
  return !isTerm(condition) && valuesSought(condition) === undefined;
}

/** The values by which a field is found: the items of an array, or the value itself. */
export function valuesOf<T>(record: T, field: Field<T>): readonly unknown[] {
  const value: unknown = record[field];
  return Array.isArray(value) ? value : [value];
}

/** Orders records by a field, then by id in the same direction; strings by code point. */
export function comparison<T extends { readonly id: string }>(by: Field<T>, order: Order): (a: T, b: T) => number {
  const direction = order === 'asc' ? 1 : -1;
  return (a, b) => direction * (compareValues(a[by], b[by]) || compareCodePoints(a.id, b.id));
}

function compareValues(a: unknown, b: unknown): number {
  return typeof a === 'string' ? compareCodePoints(a, b as string) : (a as number) - (b as number);
}
