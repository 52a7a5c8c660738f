import type { Condition, Field, Query, Range } from '../../core/shared/record-store.ts';
import { createComparison, createPredicate, isContains, isRange } from './condition.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { BlockFilter, SortedList } from './sorted-list.ts';

/** The positions of a list from `start` to `end` (exclusive), without values that the filter excludes. */
export interface Span<T> {
  readonly list: SortedList<T>;
  readonly start: number;
  readonly end: number;
  readonly filter: BlockFilter<T>;
}

/** A plan for a query: ordered spans that contain all matches, and the `rest` of the conditions to test. */
export interface Scan<T> {
  readonly spans: readonly Span<T>[];
  readonly rest: readonly Condition<T>[];
  readonly size: number;
}

/** Returns the scan of an index that examines the fewest records. */
export function planShortestScan<T extends { readonly id: string }>(
  index: OrderedIndex<T>,
  { where }: Query<T>,
): Scan<T> {
  const range = findRange(index.by, where);
  const createScan = (lists: readonly SortedList<T>[], condition?: Condition<T>): Scan<T> => {
    const spans = lists.map((list) => createSpan(list, index.by, where));
    return { spans, rest: where.filter((it) => it !== range && it !== condition), size: countCandidates(spans) };
  };
  return where.reduce(
    (shortest, condition) => {
      const lists = index.findLists(condition);
      const other = lists && createScan(lists, condition);
      return other && other.size <= shortest.size ? other : shortest;
    },
    createScan([index.all]),
  );
}

/** Returns the page of a query, or `undefined` if the scan would examine more than `maxExaminedCount` records. */
export function readScanPage<T extends { readonly id: string }>(
  { spans, rest }: Scan<T>,
  { by, order, skip, take }: Query<T>,
  maxExaminedCount: number,
): T[] | undefined {
  const skipped = spans.length === 1 && rest.length === 0 ? skip : 0;
  const runs = spans.map(({ list, start, end, filter }) =>
    order === 'asc'
      ? list.iterateAscending(start + skipped, end, filter)
      : list.iterateDescending(start, end - skipped, filter),
  );
  const matches = createPredicate(rest);
  const found: T[] = [];
  let examinedCount = 0;
  let leftToSkip = skip - skipped;
  for (const record of merge(runs, createComparison(by, order))) {
    if (found.length === take) break;
    if (++examinedCount > maxExaminedCount) return undefined;
    if (matches(record) && leftToSkip-- <= 0) found.push(record);
  }
  return found;
}

/** Returns the smallest span of a list, ordered `by` a field, that contains all records in the ranges of the conditions. */
export function createSpan<T>(list: SortedList<T>, by: Field<T>, where: readonly Condition<T>[]): Span<T> {
  const range = findRange(by, where);
  const { from, to } = range ?? {};
  const start = from === undefined ? 0 : list.countBefore((record) => (record[by] as number) < from);
  const end = to === undefined ? list.size : list.countBefore((record) => (record[by] as number) <= to);
  return {
    list,
    start,
    end,
    filter: { ranges: where.filter(isRange).filter((it) => it !== range), terms: where.filter(isContains) },
  };
}

function findRange<T>(by: Field<T>, where: readonly Condition<T>[]): Range<T> | undefined {
  return where.filter(isRange).find(({ field }) => field === by);
}

export function countCandidates<T>(spans: readonly Span<T>[]): number {
  return spans.reduce((sum, { list, start, end, filter }) => sum + list.count(start, end, filter), 0);
}

/** Merges several sorted runs, without duplicates. It merges halves, so 100 runs cost seven comparisons per record. */
function* merge<T>(runs: readonly Generator<T>[], compare: (a: T, b: T) => number): Generator<T> {
  if (runs.length <= 1) {
    if (runs[0]) yield* runs[0];
    return;
  }
  const half = runs.length >> 1;
  const left = merge(runs.slice(0, half), compare);
  const right = merge(runs.slice(half), compare);
  let a = left.next();
  let b = right.next();
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value, b.value);
    yield (order <= 0 ? a.value : b.value) as T;
    if (order <= 0) a = left.next();
    if (order >= 0) b = right.next();
  }
}
