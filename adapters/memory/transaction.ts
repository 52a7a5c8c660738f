import type { Condition, Query } from '../../core/shared/record-store.ts';
import { compareCodePoints } from '../../core/shared/text.ts';
import type { Collection, Table } from './collection.ts';
import { comparison, predicate } from './condition.ts';

/** Changes of several collections that are kept together or not at all. */
export class Transaction {
  private readonly staged = new Map<string, StagedTable<never>>();

  /** The collection of a place as this transaction sees it; `collection` tells the one that is there now. */
  table<T extends { readonly id: string }>(place: string, collection: () => Collection<T>): Table<T> {
    const known = this.staged.get(place) as unknown as StagedTable<T> | undefined;
    if (known) return known;
    const table = new StagedTable(collection);
    this.staged.set(place, table as unknown as StagedTable<never>);
    return table;
  }

  /** Whether the changes are kept: not where another change of one of the records came between. */
  commit(): boolean {
    const tables = [...this.staged.values()];
    if (!tables.every((table) => table.isCurrent())) return false;
    for (const table of tables) table.apply();
    return true;
  }
}

/** A collection with the changes of a transaction laid over it. */
class StagedTable<T extends { readonly id: string }> implements Table<T> {
  /** The stored records as the transaction saw them first: it goes on with these, whatever others change. */
  private readonly seen = new Map<string, T | undefined>();
  private readonly changes = new Map<string, T | undefined>();

  constructor(private readonly collectionNow: () => Collection<T>) {}

  private get collection(): Collection<T> {
    return this.collectionNow();
  }

  get(id: string): T | undefined {
    if (this.changes.has(id)) return this.changes.get(id);
    if (!this.seen.has(id)) this.seen.set(id, this.collection.get(id));
    return this.seen.get(id);
  }

  list(query: Query<T>): T[] {
    const listed = this.changes.size === 0 ? this.collection.list(query) : this.listWithChanges(query);
    for (const record of listed) if (!this.seen.has(record.id)) this.seen.set(record.id, record);
    return listed;
  }

  listById(after: string, take: number): T[] {
    const stored = this.collection.listById(after, take + this.changes.size);
    for (const record of stored) if (!this.seen.has(record.id)) this.seen.set(record.id, record);
    const above = this.afters().filter(({ id }) => compareCodePoints(id, after) > 0);
    return this.withChanges(stored, above).sort(comparison('id', 'asc')).slice(0, take);
  }

  count(where: readonly Condition<T>[]): number {
    const holds = predicate(where);
    const replaced = [...this.changes.keys()].map((id) => this.seen.get(id)).filter((record) => record !== undefined);
    return this.collection.count(where) - replaced.filter(holds).length + this.afters().filter(holds).length;
  }

  set(id: string, record: T | undefined): void {
    this.get(id);
    if (record) this.collection.requireUnique(record, (other) => this.changes.has(other), this.afters());
    this.changes.set(id, record);
  }

  /** Whether nobody else has changed what this changes, or taken a unique value of it. */
  isCurrent(): boolean {
    const isChanged = (id: string) => this.changes.has(id);
    const afters = this.afters();
    return (
      [...this.changes.keys()].every((id) => this.collection.get(id) === this.seen.get(id)) &&
      afters.every((record) => this.collection.sharedField(record, isChanged, afters) === undefined)
    );
  }

  apply(): void {
    for (const id of this.changes.keys()) this.collection.replace(id, undefined);
    for (const record of this.afters()) this.collection.replace(record.id, record);
  }

  private listWithChanges(query: Query<T>): T[] {
    const { where, by, order, skip, take } = query;
    const stored = this.collection.list({ ...query, skip: 0, take: skip + take + this.changes.size });
    const listed = this.withChanges(stored, this.afters().filter(predicate(where)));
    return listed.sort(comparison(by, order)).slice(skip, skip + take);
  }

  private withChanges(stored: readonly T[], changed: readonly T[]): T[] {
    return [...stored.filter(({ id }) => !this.changes.has(id)), ...changed];
  }

  private afters(): T[] {
    return [...this.changes.values()].filter((after) => after !== undefined);
  }
}
