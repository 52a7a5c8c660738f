import type { Condition, Query, AnyRecord as Row } from '../persistence/record-store.ts';
import type { StoreSchema } from '../persistence/store-schemas.ts';

/** The records of one schema. A row is replaced, never changed, so a copy of the table can share the rows. */
export class MemoryTable {
  constructor(
    private readonly schema: StoreSchema,
    private readonly now: () => number,
    /** The rows by their IDs. */
    public rows: Map<string, Row> = new Map(),
  ) {}

  find(workspaceId: string, id: string): Row | undefined {
    const row = this.rows.get(id);
    return row?.workspaceId === workspaceId ? row : undefined;
  }

  filter(workspaceId: string, where: readonly Condition<Row>[]): Row[] {
    const isMatch = (row: Row) => where.every((condition) => matches(row, condition));
    return [...this.rows.values()].filter((row) => row.workspaceId === workspaceId && isMatch(row));
  }

  list(workspaceId: string, { where, by, order, skip, take }: Query<Row>): Row[] {
    const sorted = this.filter(workspaceId, where).sort(
      (a, b) => compare(a[by] as string, b[by] as string) || compare(a.id, b.id),
    );
    if (order === 'desc') sorted.reverse();
    return sorted.slice(skip, skip + take);
  }

  listById(workspaceId: string, after: string, take: number): Row[] {
    const following = this.filter(workspaceId, []).filter(({ id }) => compare(id, after) > 0);
    return following.sort((a, b) => compare(a.id, b.id)).slice(0, take);
  }

  /** Adds a row. Throws `conflict` if its ID or a unique value is taken. */
  add(row: Row): void {
    if (this.rows.has(row.id)) throw this.schema.createTakenError('id');
    this.set(row.id, { ...this.schema.defaults, ...row });
  }

  /**
   * Stores `row` under its ID. If `row` is `undefined`, removes the row with this ID. Throws `conflict` if a unique
   * value is taken.
   */
  set(id: string, row: Row | undefined): void {
    const taken = row && this.findTakenField(row);
    if (taken !== undefined) throw this.schema.createTakenError(taken);
    this.deleteExpired();
    if (row) this.rows.set(id, row);
    else this.rows.delete(id);
  }

  /** Returns a copy for a transaction. */
  copy(): MemoryTable {
    return new MemoryTable(this.schema, this.now, new Map(this.rows));
  }

  /** Returns a unique field in which another row of the workspace has the same value. */
  private findTakenField(row: Row): string | undefined {
    const others = () => this.filter(row.workspaceId, []).filter(({ id }) => id !== row.id);
    return this.schema.unique.find((field) => others().some((other) => other[field] === row[field]));
  }

  private deleteExpired(): void {
    const { expires } = this.schema;
    if (expires)
      for (const row of this.rows.values()) if ((row[expires] as number) <= this.now()) this.rows.delete(row.id);
  }
}

/** Returns whether a record meets a condition of a query. */
function matches<T>(record: T, condition: Condition<T>): boolean {
  // biome-ignore lint/suspicious/noExplicitAny: a condition fits the type of its field
  const value: any = record[condition.field];
  if ('in' in condition) return [value].flat().some((item) => condition.in.includes(item));
  if ('contains' in condition) return value.includes(condition.contains);
  return value >= (condition.from ?? value) && value <= (condition.to ?? value);
}

/** Compares numbers, or texts by their bytes in UTF-8, which is the order of their Unicode code points. */
function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number') return a - (b as number);
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b as string));
}
