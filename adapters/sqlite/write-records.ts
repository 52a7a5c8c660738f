import { CoreError } from '../../core/shared/core-error.ts';
import { ID_TAKEN } from '../persistence/record-store.ts';
import { type Database, isDuplicate, toValue, type Value } from './database.ts';
import { type AnyRecord, quote, type Table } from './layout.ts';

/** The maximum number of records that one statement inserts. It blocks the event loop meanwhile. */
const MAX_INSERT_COUNT = 25;
const MAX_EXPIRED_COUNT = 20;

/** The error of each record, in the order of the records, or `undefined` if the record was inserted. */
export type InsertErrors = readonly (CoreError | undefined)[];

/**
 * Returns a function that inserts a record, and returns the error of the record, if any. Records that are added before `write` calls
 * `getRecords` are inserted together, up to `MAX_INSERT_COUNT`.
 */
export function createInserter(write: (getRecords: () => readonly AnyRecord[]) => Promise<InsertErrors>) {
  let waiting: AnyRecord[] = [];
  let errors: Promise<InsertErrors>;
  return async (record: AnyRecord): Promise<CoreError | undefined> => {
    const records = waiting;
    const close = () => {
      if (waiting === records) waiting = [];
      return records;
    };
    const position = records.push(record) - 1;
    if (position === 0) errors = write(close).finally(close);
    if (records.length === MAX_INSERT_COUNT) close();
    return (await errors)[position];
  };
}

/**
 * Inserts records with one statement. The trigram index writes their texts together, so 16 campaigns take half as long as one by
 * one. If a record cannot be inserted, inserts each on its own.
 */
export function insertRecords(
  database: Database,
  table: Table,
  records: readonly AnyRecord[],
  now: number,
): InsertErrors {
  deleteExpired(database, table, now);
  const values = records.flatMap((record) => [
    record.id,
    record.workspaceId,
    ...toValues(table, record),
    JSON.stringify(record),
  ]);
  try {
    runUnlessDuplicate(database, table, table.insert(records.length), values);
    return records.map(() => undefined);
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return records.length === 1 ? [error] : records.flatMap((record) => insertRecords(database, table, [record], now));
  }
}

/** Replaces the record of a row. It sets only the columns that change, because SQLite rewrites the index of each column that is set. */
export function replaceRecord(
  database: Database,
  table: Table,
  row: number,
  before: readonly Value[],
  record: AnyRecord,
  now: number,
): void {
  const values = toValues(table, record);
  const changed = [...values.keys()].filter((i) => values[i] !== before[i]);
  const columns = changed.map((i) => `${quote(Object.keys(table.columns)[i] as string)} = ?, `);
  const sql = `UPDATE ${quote(table.name)} SET ${columns.join('')} "record" = jsonb(?) WHERE "row" = ?`;
  runUnlessDuplicate(database, table, sql, [...changed.map((i) => values[i] as Value), JSON.stringify(record), row]);
  deleteExpired(database, table, now);
}

export const toValues = ({ columns }: Table, record: AnyRecord): Value[] =>
  Object.keys(columns).map((column) => toValue(record[column]));

function runUnlessDuplicate(database: Database, table: Table, sql: string, values: Value[]): void {
  try {
    database.run(sql, ...values);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // The message ends with the last column of the index, such as "tags.workspaceId, tags.foldedName".
    const field = error.message.split('.').at(-1) as string;
    throw new CoreError('conflict', table.unique[field] ?? ID_TAKEN);
  }
}

/** Deletes a few of the expired records. */
function deleteExpired(database: Database, { name, expires }: Table, now: number): void {
  if (expires === undefined) return;
  const expired = `SELECT "row" FROM ${quote(name)} WHERE ${quote(expires)} <= ? LIMIT ${MAX_EXPIRED_COUNT}`;
  database.run(`DELETE FROM ${quote(name)} WHERE "row" IN (${expired})`, now);
}
