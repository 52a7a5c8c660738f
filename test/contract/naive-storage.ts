import { CoreError } from '../../core/shared/core-error.ts';
import type { Condition, Entity, Query, RecordStore } from '../../core/shared/record-store.ts';

// biome-ignore lint/suspicious/noExplicitAny: it stores records of any schema
export type AnyRecord = Entity & Readonly<Record<string, any>>;

/**
 * The simplest record store: an array that is searched, sorted and copied as a whole. It is the model that model.ts compares
 * every storage with.
 */
export class NaiveRecordStore implements RecordStore<AnyRecord> {
  rows: readonly AnyRecord[] = [];

  constructor(private readonly uniqueField: string) {}

  async get(workspaceId: string, id: string): Promise<AnyRecord | undefined> {
    return this.listWorkspace(workspaceId).find((row) => row.id === id);
  }

  async getMany(workspaceId: string, ids: readonly string[]): Promise<readonly AnyRecord[]> {
    return this.listWorkspace(workspaceId).filter((row) => ids.includes(row.id));
  }

  async list(workspaceId: string, { where, by, order, skip, take }: Query<AnyRecord>): Promise<readonly AnyRecord[]> {
    const found = this.listWorkspace(workspaceId).filter((row) => where.every((condition) => matches(condition, row)));
    found.sort((a, b) => compare(a[by], b[by]) || compare(a.id, b.id));
    if (order === 'desc') found.reverse();
    return found.slice(skip, skip + take);
  }

  async listById(workspaceId: string, after: string, take: number): Promise<readonly AnyRecord[]> {
    const above = this.listWorkspace(workspaceId).filter(({ id }) => compare(id, after) > 0);
    return above.sort((a, b) => compare(a.id, b.id)).slice(0, take);
  }

  async count(workspaceId: string, where: readonly Condition<AnyRecord>[]): Promise<number> {
    return this.listWorkspace(workspaceId).filter((row) => where.every((condition) => matches(condition, row))).length;
  }

  async add(record: AnyRecord): Promise<void> {
    this.replaceRows([...this.rows, record]);
  }

  async addMany(records: readonly AnyRecord[]): Promise<ReadonlyMap<number, string>> {
    const messages = new Map<number, string>();
    for (const [i, record] of records.entries()) {
      await this.add(record).catch(({ message }) => messages.set(i, message));
    }
    return messages;
  }

  async update(
    workspaceId: string,
    id: string,
    change: (current: AnyRecord) => AnyRecord,
  ): Promise<AnyRecord | undefined> {
    const current = await this.get(workspaceId, id);
    if (!current) return undefined;
    const next = change(current);
    this.replaceRows(this.rows.map((row) => (row === current ? next : row)));
    return next;
  }

  async remove(workspaceId: string, id: string): Promise<boolean> {
    const current = await this.get(workspaceId, id);
    this.rows = this.rows.filter((row) => row !== current);
    return current !== undefined;
  }

  private listWorkspace(workspaceId: string): AnyRecord[] {
    return this.rows.filter((row) => row.workspaceId === workspaceId);
  }

  private replaceRows(rows: readonly AnyRecord[]): void {
    for (const field of ['id', this.uniqueField]) {
      const values = new Set(rows.map((row) => `${row.workspaceId} ${row[field]}`));
      if (values.size < rows.length) throw new CoreError('conflict', `A record with this ${field} already exists.`);
    }
    this.rows = rows;
  }
}

function matches(condition: Condition<AnyRecord>, row: AnyRecord): boolean {
  const value = row[condition.field];
  if ('is' in condition) return value === condition.is;
  if ('in' in condition) return [value].flat().some((item) => condition.in.includes(item));
  if ('contains' in condition) return value.includes(condition.contains);
  return !(value < (condition.from ?? value)) && !(value > (condition.to ?? value));
}

/** Compares strings by their UTF-8 bytes, which is the order of their code points. */
function compare(a: string | number, b: string | number): number {
  return typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : a - Number(b);
}
