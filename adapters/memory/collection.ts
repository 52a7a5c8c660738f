import { CoreError } from '../../core/shared/core-error.ts';
import type { Condition, Field, Query } from '../../core/shared/record-store.ts';
import { compareCodePoints } from '../../core/shared/text.ts';
import { asking, comparison, isRange, predicate, valuesSought } from './condition.ts';
import { OrderedIndex } from './ordered-index.ts';
import { pageOf, type Span, shortestWalk, sizeOf, spanOf } from './walk.ts';

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
  /** The first records above an id, in the order of their ids. It looks at every record. */
  listById(after: string, take: number): T[];
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
 * The records of one kind in one workspace, with the indexes that the kind declares. It calls `onFirst` when it gets
 * its first record: an empty one need not be remembered.
 */
export class Collection<T extends { readonly id: string }> implements Table<T> {
  private readonly byId = new Map<unknown, T>();
  private readonly byUnique: ReadonlyMap<Field<T>, Map<unknown, T>>;
  private readonly indexes: ReadonlyMap<Field<T>, OrderedIndex<T>>;

  constructor(
    private readonly shape: Shape<T>,
    private readonly now: () => number,
    private readonly onFirst: (filled: Collection<T>) => void,
  ) {
    const uniques = Object.keys(shape.unique) as Field<T>[];
    const orders = new Set(shape.indexes.map((fields) => fields.at(-1) as Field<T>));
    if (shape.expires) orders.add(shape.expires);
    this.byUnique = new Map(uniques.map((field) => [field, new Map()]));
    this.indexes = new Map([...orders].map((by) => [by, new OrderedIndex(by, lookedUpIn(by, shape))]));
  }

  get(id: string): T | undefined {
    return this.byId.get(id);
  }

  /**
   * Walks along the index. Where the narrowest condition lets few records through, it walks past as many at most and
   * then sorts those few: however the records lie, it costs about twice the cheaper of the two ways at most.
   */
  list(query: Query<T>): T[] {
    const { by, order, skip, take } = query;
    const where = asking(query.where);
    const index = this.indexes.get(by);
    if (!index) throw new Error(`No index orders by ${by}.`);
    const walk = shortestWalk(index, { ...query, where });
    const few = this.narrowest(where);
    const sortable = few && isCheaperToSort(few.size, walk.size) ? few : undefined;
    const page = pageOf(walk, query, sortable?.size ?? Number.POSITIVE_INFINITY);
    if (page) return page;
    const found = [...(sortable as Source<T>).values()].filter(predicate(where));
    return found.sort(comparison(by, order)).slice(skip, skip + take);
  }

  listById(after: string, take: number): T[] {
    const above = [...this.byId.values()].filter(({ id }) => compareCodePoints(id, after) > 0);
    return above.sort(comparison('id', 'asc')).slice(0, take);
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
    if (field) throw new CoreError('conflict', this.shape.unique[field] as string);
  }

  /** The unique field whose value a record shares with one that stays, or with one of the `others`. */
  sharedField(
    record: T,
    isReplaced: (id: string) => boolean = () => false,
    others: readonly T[] = [],
  ): Field<T> | undefined {
    for (const [field, records] of this.byUnique) {
      const stored = records.get(record[field]);
      const same = others.filter((other) => other[field] === record[field]);
      if (stored && !isReplaced(stored.id)) same.push(stored);
      if (same.some(({ id }) => id !== record.id)) return field;
    }
    return undefined;
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
    for (const [field, records] of this.byUnique) records.set(record[field], record);
    for (const index of this.indexes.values()) index.add(record);
  }

  private forget(record: T): void {
    this.byId.delete(record.id);
    for (const [field, records] of this.byUnique) records.delete(record[field]);
    for (const index of this.indexes.values()) index.delete(record);
  }

  private forgetExpired(): void {
    const { expires } = this.shape;
    const list = expires && this.indexes.get(expires)?.all;
    if (!list) return;
    const now = this.now();
    const expired = list.rank((record) => (record[expires] as number) <= now);
    for (const record of [...list.ascending(0, expired)]) this.forget(record);
  }

  private narrowest(where: readonly Condition<T>[]): Source<T> | undefined {
    const sources = where.map((condition) => this.source(condition, where)).filter((source) => source !== undefined);
    return sources.reduce<Source<T> | undefined>(
      (least, it) => (least && least.size <= it.size ? least : it),
      undefined,
    );
  }

  /** Where the records are that meet a condition; of them, those that can meet the ranges among all conditions. */
  private source(condition: Condition<T>, where: readonly Condition<T>[]): Source<T> | undefined {
    const { field } = condition;
    if (isRange(condition)) {
      const index = this.indexes.get(field);
      return index && sourceOf([spanOf(index.all, field, where)]);
    }
    const records = field === 'id' ? this.byId : this.byUnique.get(field);
    const found = records && valuesSought(condition)?.flatMap((value) => records.get(value) ?? []);
    if (found) return { size: found.length, values: () => found };
    for (const index of this.indexes.values()) {
      const lists = index.listsOf(condition);
      if (lists) return sourceOf(lists.map((list) => spanOf(list, index.by, where)));
    }
    return undefined;
  }
}

/** The fields that the indexes of an order look up. */
function lookedUpIn<T>(by: Field<T>, { indexes }: Shape<T>): Field<T>[] {
  return [...new Set(indexes.filter((fields) => fields.at(-1) === by).flatMap((fields) => fields.slice(0, -1)))];
}

function sourceOf<T>(spans: readonly Span<T>[]): Source<T> {
  const values = () =>
    new Set(spans.flatMap(({ list, start, end, sought }) => [...list.ascending(start, end, sought)]));
  return { size: sizeOf(spans), values };
}

/** Whether to sort `few` records rather than to walk `all` of an order. */
function isCheaperToSort(few: number, all: number): boolean {
  return few * Math.log2(few + 2) < all;
}
