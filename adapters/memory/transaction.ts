import type { Condition, Query } from '../../core/shared/records.ts';
import type { Collection, Table } from './collection.ts';
import { comparison, predicate } from './condition.ts';

interface Change<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** Changes of several collections that are kept together or not at all. */
export class Transaction {
  private readonly staged = new Map<Collection<never>, StagedTable<never>>();

  /** The collection as this transaction sees it. */
  table<T extends { readonly id: string }>(collection: Collection<T>): Table<T> {
    const key = collection as unknown as Collection<never>;
    const known = this.staged.get(key) as unknown as StagedTable<T> | undefined;
    if (known) return known;
    const table = new StagedTable(collection);
    this.staged.set(key, table as unknown as StagedTable<never>);
    return table;
  }

  /** Whether the changes are kept: not where another change of one of the records came between. */
  commit(): boolean {
    const tables = [...this.staged.values()];
    if (!tables.every((table) => table.isCurrent())) return false;
    for (const table of tables) table.requireUnique();
    for (const table of tables) table.apply();
    return true;
  }
}

/** A collection with the changes of a transaction laid over it. */
class StagedTable<T extends { readonly id: string }> implements Table<T> {
  private readonly changes = new Map<string, Change<T>>();

  constructor(private readonly collection: Collection<T>) {}

  get(id: string): T | undefined {
    const change = this.changes.get(id);
    return change ? change.after : this.collection.get(id);
  }

  list(query: Query<T>): T[] {
    if (this.changes.size === 0) return this.collection.list(query);
    const { where, by, order, skip, take } = query;
    const kept = this.collection.list({ ...query, skip: 0, take: skip + take + this.changes.size });
    const listed = [...kept.filter(({ id }) => !this.changes.has(id)), ...this.afters().filter(predicate(where))];
    return listed.sort(comparison(by, order)).slice(skip, skip + take);
  }

  count(where: readonly Condition<T>[]): number {
    const holds = predicate(where);
    const befores = [...this.changes.values()].map(({ before }) => before).filter((before) => before !== undefined);
    return this.collection.count(where) - befores.filter(holds).length + this.afters().filter(holds).length;
  }

  set(id: string, record: T | undefined): void {
    const before = this.changes.has(id) ? this.changes.get(id)?.before : this.collection.get(id);
    if (record) this.requireUniqueOf(record);
    this.changes.set(id, { before, after: record });
  }

  isCurrent(): boolean {
    return [...this.changes].every(([id, { before }]) => this.collection.get(id) === before);
  }

  requireUnique(): void {
    for (const record of this.afters()) this.requireUniqueOf(record);
  }

  apply(): void {
    for (const id of this.changes.keys()) this.collection.replace(id, undefined);
    for (const record of this.afters()) this.collection.replace(record.id, record);
  }

  private requireUniqueOf(record: T): void {
    this.collection.requireUnique(record, (id) => this.changes.has(id), this.afters());
  }

  private afters(): T[] {
    return [...this.changes.values()].map(({ after }) => after).filter((after) => after !== undefined);
  }
}
