import type { AnyRecord, OneOf, Query } from './record-store.ts';
import type { StoreSchema } from './store-schemas.ts';

// How the page of a list is read. The first row whose condition is true applies.
//
// | condition                                        | how the page is read                       | cost             |
// |--------------------------------------------------|--------------------------------------------|------------------|
// | IDs or unique values are given (`lookup`)        | look up their records, test and sort them  | number of values |
// | an index has the order, and a fixed field that   | test its records in order, until the page  | records tested   |
// | is not a flag (`ordered.isSelective`)            | is full                                    |                  |
// | an index finds at most `MAX_SORTED_COUNT`        | test and sort its records                  | its records      |
// | records for one condition (`selective`)          |                                            |                  |
// | an index has the order (`ordered`)               | test its records in order, until the page  | records tested   |
// |                                                  | is full                                    |                  |
// | otherwise                                        | test and sort all records of the workspace | all records      |
//
// A field is fixed if a condition requires one of its values. A flag is a boolean field: many records have each value.
// A list that needs no test reads only the entries of its index up to the end of the page.

/**
 * The maximum number of records that a list sorts. If more match, a scan in the order of the list usually fills a page
 * sooner.
 */
export const MAX_SORTED_COUNT = 1_000;

/** The indexes that can serve a list. */
export interface ListPlan {
  /** The conditions on IDs and unique values. If there are any, the list needs no other index. */
  readonly lookup: readonly OneOf<AnyRecord>[];
  /** The index with the order of the list. */
  readonly ordered: OrderedIndex | undefined;
  /** The indexes that find the records of one condition, but in another order. */
  readonly selective: readonly SelectiveIndex[];
}

export interface OrderedIndex {
  readonly fields: readonly string[];
  /** The conditions that fix the fields before the last one, which is the order of the list. */
  readonly fixed: readonly OneOf<AnyRecord>[];
  /** Whether one of the fixed fields is not a flag. Usually, few records have its value. */
  readonly isSelective: boolean;
}

export interface SelectiveIndex {
  /** The first field is that of `condition`. */
  readonly fields: readonly string[];
  readonly condition: OneOf<AnyRecord>;
}

/**
 * Finds the indexes that can serve a list. `mergesValues` says whether the engine can keep the order of an index if a
 * condition has several values for a fixed field. Of the indexes with the order, prefers a selective one, then one with
 * more fields, then the last one.
 */
export function planList(
  { columns, unique, indexes }: Pick<StoreSchema, 'columns' | 'unique' | 'indexes'>,
  { where, by }: Pick<Query<AnyRecord>, 'where' | 'by'>,
  mergesValues: boolean,
): ListPlan {
  const oneOfs = where.filter((condition) => 'in' in condition);
  const isFlag = (field: string) => columns[field] === 'boolean';
  const lookup = oneOfs.filter(({ field }) => field === 'id' || unique.includes(field));
  const findFixed = (field: string) =>
    oneOfs.find((it) => it.field === field && (mergesValues || new Set(it.in).size === 1));
  const suitable = indexes.flatMap((fields): OrderedIndex[] => {
    const earlier = fields.slice(0, -1);
    const fixed = earlier.flatMap((field) => findFixed(field) ?? []);
    if (fields.at(-1) !== by || fixed.length < earlier.length) return [];
    return [{ fields, fixed, isSelective: !earlier.every(isFlag) }];
  });
  const ordered =
    suitable.findLast(({ isSelective }) => isSelective) ??
    suitable.toSorted((a, b) => a.fields.length - b.fields.length).at(-1);
  const selective = oneOfs.flatMap((condition): SelectiveIndex[] => {
    const fields = indexes.find(([first, ...others]) => first === condition.field && others.length > 0);
    return fields && !isFlag(condition.field) ? [{ fields, condition }] : [];
  });
  return { lookup, ordered, selective };
}
