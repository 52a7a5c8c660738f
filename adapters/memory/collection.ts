import { CoreError } from '../../core/shared/core-error.ts';
import type { Condition, Field, Query } from '../../core/shared/record-store.ts';
import { compareCodePoints } from '../../core/shared/text.ts';
import { createComparison, createPredicate, dropIneffectiveConditions, getSoughtValues, isRange } from './condition.ts';
import { OrderedIndex } from './ordered-index.ts';
import { countCandidates, createSpan, planShortestScan, readScanPage, type Span } from './scan.ts';

/** The part of a `RecordSchema` that a collection needs. */
export interface CollectionSchema<T> {
  readonly unique: { readonly [F in Field<T>]?: string };
  readonly indexes: readonly (readonly Field<T>[])[];
  readonly expires?: Field<T>;
}

/** A set of records by id: a collection, or the view that a transaction has of it. */
export interface RecordTable<T> {
  get(id: string): T | undefined;
  list(query: Query<T>): T[];
  /** Returns the first records with an id greater than `after`, in the order of their ids. It examines every record. */
  listById(after: string, take: number): T[];
  count(where: readonly Condition<T>[]): number;
  /** Stores or removes the record with an id. Throws `conflict` if a unique value is taken (`RecordSchema.unique`). */
  set(id: string, record: T | undefined): void;
}

/** The records that may meet a condition. An index finds them without a scan of all records. */
interface CandidateSource<T> {
  /** At least the number of the records. */
  readonly size: number;
  values(): Iterable<T>;
}

/**
 * The records of one schema in one workspace, with the indexes of the schema. It calls `onFirstRecord` when it gets its
 * first record. The storage keeps the collection only then, because reads of unknown workspaces create empty ones.
 */
export class Collection<T extends { readonly id: string }> implements RecordTable<T> {
  private readonly byId = new Map<unknown, T>();
  private readonly byUnique: ReadonlyMap<Field<T>, Map<unknown, T>>;
  private readonly indexes: ReadonlyMap<Field<T>, OrderedIndex<T>>;

  constructor(
    private readonly schema: CollectionSchema<T>,
    private readonly now: () => number,
    private readonly onFirstRecord: (filled: Collection<T>) => void,
  ) {
    const uniques = Object.keys(schema.unique) as Field<T>[];
    const orders = new Set(schema.indexes.map((fields) => fields.at(-1) as Field<T>));
    if (schema.expires) orders.add(schema.expires);
    this.byUnique = new Map(uniques.map((field) => [field, new Map()]));
    this.indexes = new Map([...orders].map((by) => [by, new OrderedIndex(by, findLookupFields(by, schema))]));
  }

  get(id: string): T | undefined {
    return this.byId.get(id);
  }

  /**
   * Lists in one of two ways: it scans the index that has the order of the query, or it finds the candidates of the narrowest
   * condition and sorts them. If there are few candidates, the scan stops after as many records as there are candidates, and
   * the second way follows. So a list costs at most about twice the cheaper way.
   */
  list(query: Query<T>): T[] {
    const { by, order, skip, take } = query;
    const where = dropIneffectiveConditions(query.where);
    const index = this.indexes.get(by);
    if (!index) throw new Error(`No index orders by ${by}.`);
    const scan = planShortestScan(index, { ...query, where });
    const narrowest = this.findNarrowestSource(where);
    const sortable = narrowest && isCheaperToSort(narrowest.size, scan.size) ? narrowest : undefined;
    const page = readScanPage(scan, query, sortable?.size ?? Number.POSITIVE_INFINITY);
    if (page) return page;
    const found = [...(sortable as CandidateSource<T>).values()].filter(createPredicate(where));
    return found.sort(createComparison(by, order)).slice(skip, skip + take);
  }

  listById(after: string, take: number): T[] {
    const above = [...this.byId.values()].filter(({ id }) => compareCodePoints(id, after) > 0);
    return above.sort(createComparison('id', 'asc')).slice(0, take);
  }

  count(where: readonly Condition<T>[]): number {
    const narrowest = this.findNarrowestSource(where);
    if (where.length === 1 && where[0] && 'is' in where[0] && narrowest) return narrowest.size;
    const matches = createPredicate(where);
    let count = 0;
    for (const record of narrowest?.values() ?? this.byId.values()) if (matches(record)) count++;
    return count;
  }

  set(id: string, record: T | undefined): void {
    if (record) this.requireUnique(record);
    this.replace(id, record);
  }

  /** Throws `conflict` if `findConflictingField` finds a field. */
  requireUnique(record: T, isReplaced?: (id: string) => boolean, others?: readonly T[]): void {
    const field = this.findConflictingField(record, isReplaced, others);
    if (field) throw new CoreError('conflict', this.schema.unique[field] as string);
  }

  /**
   * Returns the unique field whose value a record shares with another stored record, or with one of the `others`. Stored
   * records for which `isReplaced` returns `true` are ignored: a transaction has changed or removed them.
   */
  findConflictingField(
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

  /** Stores or removes a record as `set` does, without the check of unique values. */
  replace(id: string, record: T | undefined): void {
    this.deleteExpired();
    const before = this.byId.get(id);
    if (before) this.delete(before);
    if (record) this.insert(record);
  }

  private insert(record: T): void {
    if (this.byId.size === 0) this.onFirstRecord(this);
    this.byId.set(record.id, record);
    for (const [field, records] of this.byUnique) records.set(record[field], record);
    for (const index of this.indexes.values()) index.add(record);
  }

  private delete(record: T): void {
    this.byId.delete(record.id);
    for (const [field, records] of this.byUnique) records.delete(record[field]);
    for (const index of this.indexes.values()) index.delete(record);
  }

  private deleteExpired(): void {
    const { expires } = this.schema;
    const list = expires && this.indexes.get(expires)?.all;
    if (!list) return;
    const now = this.now();
    const expired = list.countBefore((record) => (record[expires] as number) <= now);
    for (const record of [...list.iterateAscending(0, expired)]) this.delete(record);
  }

  private findNarrowestSource(where: readonly Condition<T>[]): CandidateSource<T> | undefined {
    const sources = where
      .map((condition) => this.findSource(condition, where))
      .filter((source) => source !== undefined);
    return sources.reduce<CandidateSource<T> | undefined>(
      (least, it) => (least && least.size <= it.size ? least : it),
      undefined,
    );
  }

  /** Returns the source of the records that meet a condition, narrowed by the ranges among all conditions. */
  private findSource(condition: Condition<T>, where: readonly Condition<T>[]): CandidateSource<T> | undefined {
    const { field } = condition;
    if (isRange(condition)) {
      const index = this.indexes.get(field);
      return index && createSource([createSpan(index.all, field, where)]);
    }
    const records = field === 'id' ? this.byId : this.byUnique.get(field);
    const found = records && getSoughtValues(condition)?.flatMap((value) => records.get(value) ?? []);
    if (found) return { size: found.length, values: () => found };
    for (const index of this.indexes.values()) {
      const lists = index.findLists(condition);
      if (lists) return createSource(lists.map((list) => createSpan(list, index.by, where)));
    }
    return undefined;
  }
}

/** Returns the fields that the indexes of an order look up. */
function findLookupFields<T>(by: Field<T>, { indexes }: CollectionSchema<T>): Field<T>[] {
  return [...new Set(indexes.filter((fields) => fields.at(-1) === by).flatMap((fields) => fields.slice(0, -1)))];
}

function createSource<T>(spans: readonly Span<T>[]): CandidateSource<T> {
  const values = () =>
    new Set(spans.flatMap(({ list, start, end, filter }) => [...list.iterateAscending(start, end, filter)]));
  return { size: countCandidates(spans), values };
}

/** Returns whether sorting `sortCount` records is cheaper than scanning `scanCount` records of an index. */
function isCheaperToSort(sortCount: number, scanCount: number): boolean {
  return sortCount * Math.log2(sortCount + 2) < scanCount;
}
