import type { Condition, Field, Query, Range } from '../../core/shared/record-store.ts';
import { comparison, isRange, isTerm, predicate } from './condition.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { SortedList, Sought } from './sorted-list.ts';

/** The ranks of a list from `start` up to `end`, that one excluded, but for values that cannot be what is sought. */
export interface Span<T> {
  readonly list: SortedList<T>;
  readonly start: number;
  readonly end: number;
  readonly sought: Sought<T>;
}

/** Spans, in the order of a query, of all the records that it can find: those for which the `rest` holds. */
export interface Walk<T> {
  readonly spans: readonly Span<T>[];
  readonly rest: readonly Condition<T>[];
  readonly size: number;
}

/** The walk of an index with the fewest records. */
export function shortestWalk<T extends { readonly id: string }>(index: OrderedIndex<T>, { where }: Query<T>): Walk<T> {
  const range = rangeOf(index.by, where);
  const walk = (lists: readonly SortedList<T>[], sought?: Condition<T>): Walk<T> => {
    const spans = lists.map((list) => spanOf(list, index.by, where));
    return { spans, rest: where.filter((it) => it !== range && it !== sought), size: sizeOf(spans) };
  };
  return where.reduce(
    (shortest, condition) => {
      const lists = index.listsOf(condition);
      const other = lists && walk(lists, condition);
      return other && other.size <= shortest.size ? other : shortest;
    },
    walk([index.all]),
  );
}

/** What a query finds on a walk; `undefined` where more records than `patience` would have to be looked at. */
export function pageOf<T extends { readonly id: string }>(
  { spans, rest }: Walk<T>,
  { by, order, skip, take }: Query<T>,
  patience: number,
): T[] | undefined {
  const skipped = spans.length === 1 && rest.length === 0 ? skip : 0;
  const runs = spans.map(({ list, start, end, sought }) =>
    order === 'asc' ? list.ascending(start + skipped, end, sought) : list.descending(start, end - skipped, sought),
  );
  const holds = predicate(rest);
  const found: T[] = [];
  let looks = 0;
  let left = skip - skipped;
  for (const record of merged(runs, comparison(by, order))) {
    if (found.length === take) break;
    if (++looks > patience) return undefined;
    if (holds(record) && left-- <= 0) found.push(record);
  }
  return found;
}

/** The part of a list, ordered `by` a field, outside of which the ranges among the conditions do not all hold. */
export function spanOf<T>(list: SortedList<T>, by: Field<T>, where: readonly Condition<T>[]): Span<T> {
  const range = rangeOf(by, where);
  const { from, to } = range ?? {};
  const start = from === undefined ? 0 : list.rank((record) => (record[by] as number) < from);
  const end = to === undefined ? list.size : list.rank((record) => (record[by] as number) <= to);
  return {
    list,
    start,
    end,
    sought: { ranges: where.filter(isRange).filter((it) => it !== range), terms: where.filter(isTerm) },
  };
}

function rangeOf<T>(by: Field<T>, where: readonly Condition<T>[]): Range<T> | undefined {
  return where.filter(isRange).find(({ field }) => field === by);
}

export function sizeOf<T>(spans: readonly Span<T>[]): number {
  return spans.reduce((sum, { list, start, end, sought }) => sum + list.count(start, end, sought), 0);
}

/** The records of several runs of one order as one run, each once. Halves are merged: 100 runs cost seven comparisons. */
function* merged<T>(runs: readonly Generator<T>[], compare: (a: T, b: T) => number): Generator<T> {
  if (runs.length <= 1) {
    if (runs[0]) yield* runs[0];
    return;
  }
  const half = runs.length >> 1;
  const left = merged(runs.slice(0, half), compare);
  const right = merged(runs.slice(half), compare);
  let a = left.next();
  let b = right.next();
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value, b.value);
    yield (order <= 0 ? a.value : b.value) as T;
    if (order <= 0) a = left.next();
    if (order >= 0) b = right.next();
  }
}
