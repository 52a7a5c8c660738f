import { DomainError } from '../../core/shared/error.ts';
import type { Condition, Field, Query } from '../../core/shared/records.ts';
import { comparison, predicate, valuesOf } from './condition.ts';
import { SortedList } from './sorted-list.ts';

/** What a collection needs to know of a kind of record. */
export interface Shape<T> {
  readonly unique: { readonly [F in Field<T>]?: string };
  readonly indexes: readonly (readonly Field<T>[])[];
  readonly expires?: Field<T>;
}

/** A set of records by id, as a collection has it and a transaction sees it. */
export interface Table<T> {
  get(id: string): T | undefined;
  list(query: Query<T>): T[];
  count(where: readonly Condition<T>[]): number;
  /** Puts a record in the place of the one with its id, or removes that. Refuses with `conflict` (Kind.unique). */
  set(id: string, record: T | undefined): void;
}

/** Records that can be had without walking all: how many at the most, and which. */
interface Source<T> {
  readonly size: number;
  values(): Iterable<T>;
}

/**
 * The records of one kind in one workspace, with an index for each field that the kind declares. It calls `onFirst`
 * when it gets its first record: an empty one need not be remembered.
 */
export class Collection<T extends { readonly id: string }> implements Table<T> {
  private readonly byId = new Map<string, T>();
  private readonly byValue: ReadonlyMap<Field<T>, Map<unknown, Set<T>>>;
  private readonly ordered: ReadonlyMap<Field<T>, SortedList<T>>;

  constructor(
    private readonly shape: Shape<T>,
    private readonly now: () => number,
    private readonly onFirst: (filled: Collection<T>) => void,
  ) {
    const equalities = [...this.uniqueFields(), ...shape.indexes.flatMap((fields) => fields.slice(0, -1))];
    const orders = shape.indexes.map((fields) => fields.at(-1) as Field<T>);
    this.byValue = new Map(equalities.map((field) => [field, new Map()]));
    this.ordered = new Map(orders.map((field) => [field, new SortedList(comparison<T>(field, 'asc'))]));
  }

  get(id: string): T | undefined {
    return this.byId.get(id);
  }

  list(query: Query<T>): T[] {
    const { where, by, order, skip, take } = query;
    const sorted = this.ordered.get(by);
    if (!sorted) throw new Error(`No index orders by ${by}.`);
    const narrowest = this.narrowest(where);
    if (narrowest && isCheaperToSort(narrowest.size, sorted.size, skip + take)) {
      const found = [...narrowest.values()].filter(predicate(where));
      return found.sort(comparison(by, order)).slice(skip, skip + take);
    }
    return this.walk(sorted, query);
  }

  count(where: readonly Condition<T>[]): number {
    const source = this.narrowest(where);
    if (where.length === 1 && where[0] && 'is' in where[0] && source) return source.size;
    const holds = predicate(where);
    let count = 0;
    for (const record of source?.values() ?? this.byId.values()) if (holds(record)) count++;
    return count;
  }

  set(id: string, record: T | undefined): void {
    if (record) this.requireUnique(record);
    this.replace(id, record);
  }

  /** Refuses with `conflict` a record that shares a unique value with one that stays, or with one of the `others`. */
  requireUnique(record: T, isReplaced?: (id: string) => boolean, others?: readonly T[]): void {
    const field = this.sharedField(record, isReplaced, others);
    if (field) throw new DomainError('conflict', this.shape.unique[field] as string);
  }

  /** The unique field whose value a record shares with one that stays, or with one of the `others`. */
  sharedField(
    record: T,
    isReplaced: (id: string) => boolean = () => false,
    others: readonly T[] = [],
  ): Field<T> | undefined {
    return this.uniqueFields().find((field) => {
      const stored = [...(this.byValue.get(field)?.get(record[field]) ?? [])].filter(({ id }) => !isReplaced(id));
      const same = [...stored, ...others.filter((other) => other[field] === record[field])];
      return same.some(({ id }) => id !== record.id);
    });
  }

  /** As `set`, where the caller has looked at what is unique. */
  replace(id: string, record: T | undefined): void {
    this.forgetExpired();
    const before = this.byId.get(id);
    if (before) this.forget(before);
    if (record) this.keep(record);
  }

  private keep(record: T): void {
    if (this.byId.size === 0) this.onFirst(this);
    this.byId.set(record.id, record);
    for (const [field, records] of this.byValue) {
      for (const value of valuesOf(record, field)) {
        const same = records.get(value);
        if (same) same.add(record);
        else records.set(value, new Set([record]));
      }
    }
    for (const list of this.ordered.values()) list.add(record);
  }

  private forget(record: T): void {
    this.byId.delete(record.id);
    for (const [field, records] of this.byValue) {
      for (const value of valuesOf(record, field)) {
        const same = records.get(value);
        same?.delete(record);
        if (same?.size === 0) records.delete(value);
      }
    }
    for (const list of this.ordered.values()) list.delete(record);
  }

  private forgetExpired(): void {
    const { expires } = this.shape;
    const list = expires && this.ordered.get(expires);
    if (!list) return;
    const now = this.now();
    const expired = list.rank((record) => (record[expires] as number) <= now);
    for (const record of [...list.ascending(0, expired)]) this.forget(record);
  }

  private uniqueFields(): Field<T>[] {
    return Object.keys(this.shape.unique) as Field<T>[];
  }

  private narrowest(where: readonly Condition<T>[]): Source<T> | undefined {
    const sources = where.map((condition) => this.source(condition)).filter((source) => source !== undefined);
    return sources.reduce<Source<T> | undefined>(
      (least, it) => (least && least.size <= it.size ? least : it),
      undefined,
    );
  }

  private source(condition: Condition<T>): Source<T> | undefined {
    const { field } = condition;
    if ('contains' in condition) return undefined;
    if ('is' in condition || 'in' in condition) {
      const values = 'is' in condition ? [condition.is] : condition.in;
      if (field === 'id') return this.havingIds(values as readonly string[]);
      const records = this.byValue.get(field);
      return records && union(values.map((value) => records.get(value) ?? new Set()));
    }
    const list = this.ordered.get(field);
    if (!list) return undefined;
    const [start, end] = bounds(list, condition);
    return { size: end - start, values: () => list.ascending(start, end) };
  }

  private havingIds(ids: readonly string[]): Source<T> {
    const records = [...new Set(ids)].map((id) => this.byId.get(id)).filter((record) => record !== undefined);
    return { size: records.length, values: () => records };
  }

  private walk(sorted: SortedList<T>, { where, by, order, skip, take }: Query<T>): T[] {
    const range = where.find((condition) => condition.field === by && ('from' in condition || 'to' in condition));
    const [start, end] = range ? bounds(sorted, range) : [0, sorted.size];
    const rest = where.filter((condition) => condition !== range);
    const skipped = rest.length === 0 ? skip : 0;
    const records = order === 'asc' ? sorted.ascending(start + skipped, end) : sorted.descending(start, end - skipped);
    const holds = predicate(rest);
    const found: T[] = [];
    let left = skip - skipped;
    for (const record of records) {
      if (found.length === take) break;
      if (holds(record) && left-- <= 0) found.push(record);
    }
    return found;
  }
}

function union<T>(sets: readonly ReadonlySet<T>[]): Source<T> {
  const size = sets.reduce((sum, set) => sum + set.size, 0);
  return {
    size,
    values: () => (sets.length === 1 ? (sets[0] as ReadonlySet<T>) : new Set(sets.flatMap((set) => [...set]))),
  };
}

function bounds<T>(list: SortedList<T>, condition: Condition<T>): [start: number, end: number] {
  const { field } = condition;
  const { from, to } = condition as { from?: number; to?: number };
  const start = from === undefined ? 0 : list.rank((record) => (record[field] as number) < from);
  const end = to === undefined ? list.size : list.rank((record) => (record[field] as number) <= to);
  return [start, Math.max(start, end)];
}

/** Whether to sort `few` records that hold all matches, rather than to walk the ordered `all` until enough match. */
function isCheaperToSort(few: number, all: number, wanted: number): boolean {
  const walked = (wanted * all) / Math.max(1, few);
  return few * Math.log2(few + 2) < Math.min(walked, all);
}
