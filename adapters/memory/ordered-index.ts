import type { Condition, Field } from '../../core/shared/record-store.ts';
import { createComparison, getSoughtValues, getValues } from './condition.ts';
import { SortedList } from './sorted-list.ts';

/** Records in the order of a field: a list of all records, and a list for each value of other fields. */
export class OrderedIndex<T extends { readonly id: string }> {
  readonly all: SortedList<T>;
  private readonly compare: (a: T, b: T) => number;
  private readonly byValue: ReadonlyMap<Field<T>, Map<unknown, SortedList<T>>>;

  constructor(
    readonly by: Field<T>,
    fields: readonly Field<T>[],
  ) {
    this.compare = createComparison(by, 'asc');
    this.all = new SortedList(this.compare);
    this.byValue = new Map(fields.map((field) => [field, new Map()]));
  }

  add(record: T): void {
    this.all.add(record);
    for (const [field, lists] of this.byValue) {
      for (const value of new Set(getValues(record, field))) {
        const list = lists.get(value) ?? new SortedList(this.compare);
        list.add(record);
        lists.set(value, list);
      }
    }
  }

  delete(record: T): void {
    this.all.delete(record);
    for (const [field, lists] of this.byValue) {
      for (const value of new Set(getValues(record, field))) {
        const list = lists.get(value) as SortedList<T>;
        list.delete(record);
        if (list.size === 0) lists.delete(value);
      }
    }
  }

  /** Returns the lists of the values of a condition, or `undefined` if the index does not cover its field. */
  findLists(condition: Condition<T>): readonly SortedList<T>[] | undefined {
    const lists = this.byValue.get(condition.field);
    return lists && getSoughtValues(condition)?.flatMap((value) => lists.get(value) ?? []);
  }
}
