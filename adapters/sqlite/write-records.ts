import type { AnyRecord } from '../persistence/record-store.ts';
import { type Database, isDuplicate, isStorable, toValue, type Value } from './database.ts';
import { quote, type Table } from './layout.ts';
import { noteOutdated } from './search.ts';

const MAX_EXPIRED_COUNT = 20;

/** Inserts a record. Throws `conflict` if its ID or a unique value is taken. */
export function insertRecord(database: Database, table: Table, record: AnyRecord): void {
  const values = [record.id, record.workspaceId, ...toValues(table, record), JSON.stringify(record)];
  const row = runUnlessDuplicate(table, values, () => database.insert(table.insert, ...values));
  noteOutdated(database, table, row, true);
}

/**
 * Replaces the record of a row. Sets only the columns that change, because SQLite rewrites the index of each column
 * that is set.
 */
export function replaceRecord(
  database: Database,
  table: Table,
  row: number,
  current: AnyRecord,
  record: AnyRecord,
): void {
  const before = toValues(table, current);
  const values = toValues(table, record);
  const changed = Object.keys(table.columns).filter((_, i) => values[i] !== before[i]);
  const columns = changed.map((column) => `${quote(column)} = ?, `);
  const sql = `UPDATE ${quote(table.name)} SET ${columns.join('')} "record" = jsonb(?) WHERE "row" = ?`;
  const bound = [...values.filter((value, i) => value !== before[i]), JSON.stringify(record), row];
  runUnlessDuplicate(table, bound, () => database.run(sql, ...bound));
  if (table.searches.some(({ field }) => changed.includes(field))) noteOutdated(database, table, row, false);
}

const toValues = ({ columns, schema: { defaults } }: Table, record: AnyRecord): Value[] =>
  Object.keys(columns).map((column) => toValue(column in record ? record[column] : defaults[column]));

function runUnlessDuplicate(table: Table, values: readonly Value[], write: () => number): number {
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) {
    throw new Error('An ID or a column has a NUL character or a lone surrogate.');
  }
  try {
    return write();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // The message ends with the last column of the index, such as "tags.workspaceId, tags.foldedName".
    throw table.schema.createTakenError(error.message.split('.').at(-1) as string);
  }
}

/** Deletes a few of the expired records. */
export function deleteExpired(database: Database, { name, schema: { expires } }: Table, now: number): void {
  if (expires === undefined) return;
  const expired = `SELECT "row" FROM ${quote(name)} WHERE ${quote(expires)} <= ? LIMIT ${MAX_EXPIRED_COUNT}`;
  database.run(`DELETE FROM ${quote(name)} WHERE "row" IN (${expired})`, now);
}
