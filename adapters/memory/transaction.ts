import type { Condition, Query } from '../../core/shared/record-store.ts';
import { compareCodePoints } from '../../core/shared/text.ts';
import type { Collection, RecordTable } from './collection.ts';
import { createComparison, createPredicate } from './condition.ts';

/** Changes of several collections that are committed together or not at all. */
export class Transaction {
  private readonly staged = new Map<string, StagedTable<never>>();

  /** Returns the view that this transaction has of a collection. `getCollection` returns the current collection. */
  getTable<T extends { readonly id: string }>(key: string, getCollection: () => Collection<T>): RecordTable<T> {
    const known = this.staged.get(key) as unknown as StagedTable<T> | undefined;
    if (known) return known;
    const table = new StagedTable(getCollection);
    this.staged.set(key, table as unknown as StagedTable<never>);
    return table;
  }

  /** Commits the changes and returns `true`, or returns `false` after a write conflict. */
  commit(): boolean {
    const tables = [...this.staged.values()];
    if (!tables.every((table) => table.isCurrent())) return false;
    for (const table of tables) table.apply();
    return true;
  }
}

/** A collection with the changes of a transaction on top of it. */
class StagedTable<T extends { readonly id: string }> implements RecordTable<T> {
  /**
   * The stored records as the transaction first read them. `get` returns these even if others change the records. Lists read
   * the current records. `isCurrent` compares both.
   */
  private readonly firstReads = new Map<string, T | undefined>();
  private readonly changes = new Map<string, T | undefined>();

  constructor(private readonly getCollection: () => Collection<T>) {}

  private get collection(): Collection<T> {
    return this.getCollection();
  }

  get(id: string): T | undefined {
    if (this.changes.has(id)) return this.changes.get(id);
    if (!this.firstReads.has(id)) this.firstReads.set(id, this.collection.get(id));
    return this.firstReads.get(id);
  }

  list(query: Query<T>): T[] {
    const listed = this.changes.size === 0 ? this.collection.list(query) : this.listWithChanges(query);
    for (const record of listed) if (!this.firstReads.has(record.id)) this.firstReads.set(record.id, record);
    return listed;
  }

  listById(after: string, take: number): T[] {
    const stored = this.collection.listById(after, take + this.changes.size);
    for (const record of stored) if (!this.firstReads.has(record.id)) this.firstReads.set(record.id, record);
    const above = this.listChangedRecords().filter(({ id }) => compareCodePoints(id, after) > 0);
    return this.mergeChanges(stored, above).sort(createComparison('id', 'asc')).slice(0, take);
  }

  count(where: readonly Condition<T>[]): number {
    const matches = createPredicate(where);
    const replaced = [...this.changes.keys()]
      .map((id) => this.firstReads.get(id))
      .filter((record) => record !== undefined);
    return (
      this.collection.count(where) - replaced.filter(matches).length + this.listChangedRecords().filter(matches).length
    );
  }

  set(id: string, record: T | undefined): void {
    this.get(id);
    if (record) this.collection.requireUnique(record, (other) => this.changes.has(other), this.listChangedRecords());
    this.changes.set(id, record);
  }

  /** Returns whether nobody else changed one of the changed records, or took one of their unique values. */
  isCurrent(): boolean {
    const isChanged = (id: string) => this.changes.has(id);
    const changedRecords = this.listChangedRecords();
    return (
      [...this.changes.keys()].every((id) => this.collection.get(id) === this.firstReads.get(id)) &&
      changedRecords.every(
        (record) => this.collection.findConflictingField(record, isChanged, changedRecords) === undefined,
      )
    );
  }

  apply(): void {
    for (const id of this.changes.keys()) this.collection.replace(id, undefined);
    for (const record of this.listChangedRecords()) this.collection.replace(record.id, record);
  }

  private listWithChanges(query: Query<T>): T[] {
    const { where, by, order, skip, take } = query;
    const stored = this.collection.list({ ...query, skip: 0, take: skip + take + this.changes.size });
    const listed = this.mergeChanges(stored, this.listChangedRecords().filter(createPredicate(where)));
    return listed.sort(createComparison(by, order)).slice(skip, skip + take);
  }

  private mergeChanges(stored: readonly T[], changed: readonly T[]): T[] {
    return [...stored.filter(({ id }) => !this.changes.has(id)), ...changed];
  }

  private listChangedRecords(): T[] {
    return [...this.changes.values()].filter((record) => record !== undefined);
  }
}
