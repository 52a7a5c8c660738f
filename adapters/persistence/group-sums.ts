import type { AnyRecord, SumQuery } from './record-store.ts';

/** Adds up values of records by their groups, for engines that do not let their database do it (`RecordStore.sum`). */
export class GroupSums {
  readonly fields: readonly string[];
  private readonly groupCount: number;
  private readonly groups = new Map<unknown, unknown[]>();

  constructor({ groupBy, columns }: Pick<SumQuery<AnyRecord>, 'groupBy' | 'columns'>) {
    this.fields = [...groupBy, ...columns];
    this.groupCount = groupBy.length;
  }

  /** Adds the values that a record has in `fields`. */
  add(values: readonly unknown[]): void {
    const key = this.groupCount === 1 ? values[0] : JSON.stringify(values.slice(0, this.groupCount));
    const sums = this.groups.get(key);
    if (!sums) this.groups.set(key, [...values]);
    else for (let i = this.groupCount; i < sums.length; i++) sums[i] = (sums[i] as number) + (values[i] as number);
  }

  /** Returns a record with `fields` for each group. */
  list(): AnyRecord[] {
    const toEntries = (values: readonly unknown[]) => this.fields.map((field, i) => [field, values[i]]);
    return [...this.groups.values()].map((values) => Object.fromEntries(toEntries(values)));
  }
}
