import type { Condition, Field } from '../../core/shared/record-store.ts';
import { comparison, valuesOf, valuesSought } from './condition.ts';
import { SortedList } from './sorted-list.ts';

/** Records in the order of a field: all of them, and those that have a value of some other field. */
export class OrderedIndex<T extends { readonly id: string }> {
  readonly all: SortedList<T>;
  private readonly compare: (a: T, b: T) => number;
  private readonly byValue: ReadonlyMap<Field<T>, Map<unknown, SortedList<T>>>;

  constructor(
    readonly by: Field<T>,
    fields: readonly Field<T>[],
  ) {
    this.compare = comparison(by, 'asc');
    this.all = new SortedList(this.compare);
    this.byValue = new Map(fields.map((field) => [field, new Map()]));
  }

  add(record: T): void {
    this.all.add(record);
    for (const [field, lists] of this.byValue) {
      for (const value of new Set(valuesOf(record, field))) {
        const list = lists.get(value) ?? new SortedList(this.compare);
        list.add(record);
        lists.set(value, list);
      }
    }
  }

  delete(record: T): void {
    this.all.delete(record);
    for (const [field, lists] of this.byValue) {
      for (const value of new Set(valuesOf(record, field))) {
        const list = lists.get(value) as SortedList<T>;
        list.delete(record);
        if (list.size === 0) lists.delete(value);
      }
    }
  }

  /** The lists of the records that have a value which a condition seeks; `undefined` where that is not looked up here. */
  listsOf(condition: Condition<T>): readonly SortedList<T>[] | undefined {
    const lists = this.byValue.get(condition.field);
    return lists && valuesSought(condition)?.flatMap((value) => lists.get(value) ?? []);
  }
}
