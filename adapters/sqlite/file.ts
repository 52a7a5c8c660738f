import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Database, isBusy, isDamaged, retryWhileBusy, toValue } from './database.ts';
import { describeParts, quote, type Table, tables } from './layout.ts';

/** Identifies a file of this service (https://sqlite.org/pragma.html#pragma_application_id): "WAdv" in ASCII. */
const APPLICATION_ID = 0x57416476;
/**
 * The version of the layout. Increment it when a schema (adapters/persistence) or layout.ts changes, so that an older version of
 * the service refuses the file instead of writing records without the new columns.
 */
const FILE_VERSION = 2;

const PRAGMAS = 'PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;';
/**
 * The number of pages (4 KiB each) in the write-ahead log at which SQLite copies them into the file. With the default of 1,000,
 * creating a record takes 1.5 times as long, because most pages are copied many times.
 */
const CHECKPOINT_PAGE_COUNT = 4000;
/** A log that grew during a long read is truncated to this size when it is reused. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

/** The file cannot be used. The message names the file and says what to do. */
export class UnusableFile extends Error {}

/** Opens the connection that writes. Creates the file and its folder if they are missing, and upgrades its layout. */
export async function openWriter(file: string): Promise<Database> {
  let database: Database | undefined;
  try {
    createFile(file);
    const writer = await retryWhileBusy(() => new Database(file, false, PRAGMAS));
    database = writer;
    await retryWhileBusy(() => rejectForeignFile(writer, file));
    await retryWhileBusy(() => writer.exec('PRAGMA journal_mode = WAL'));
    const settings = `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGE_COUNT};
      PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`;
    await retryWhileBusy(() => writer.exec(settings));
    await retryWhileBusy(() => upgrade(writer, file));
    return writer;
  } catch (error) {
    await database?.close();
    throw toUnusableFile(error, file);
  }
}

/** Opens a connection that only reads. It sees what is committed. */
export function openReader(file: string): Promise<Database> {
  return retryWhileBusy(() => new Database(file, true, PRAGMAS));
}

function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite creates other files in the folder.
  accessSync(dirname(file), constants.W_OK);
  // An existing file is not opened: closing it would release the locks of other connections of this process
  // (https://sqlite.org/howtocorrupt.html, section 2.2).
  if (!existsSync(file)) {
    // The file may be a link to a file that is missing. SQLite would create that one readable by everybody.
    closeSync(openSync(file, 'a', 0o600));
    return;
  }
  if (statSync(file).isDirectory()) throw new UnusableFile(`${file} is a folder. Choose a file in it.`);
  accessSync(file, constants.R_OK | constants.W_OK);
}

function rejectForeignFile(database: Database, file: string): void {
  const [applicationId, version, partCount] = readState(database);
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || partCount > 0)) {
    throw new UnusableFile(`${file} is the database of another program. Choose another file.`);
  }
  if (version > FILE_VERSION) {
    throw new UnusableFile(
      `${file} was written by a newer version of this service. Run that version, or choose another file.`,
    );
  }
}

function readState(database: Database): [applicationId: number, version: number, partCount: number] {
  const count = '(SELECT count(*) FROM sqlite_schema)';
  const sql = `SELECT a.application_id, v.user_version, ${count} FROM pragma_application_id a, pragma_user_version v`;
  return database.all(sql)[0] as [number, number, number];
}

/** Creates what is missing or different in the file, in one transaction. Several processes may do so at the same time. */
function upgrade(database: Database, file: string): void {
  if (isUpToDate(database)) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have upgraded the file since the first check.
    rejectForeignFile(database, file);
    for (const table of tables.values()) upgradeTable(database, table);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FILE_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isInTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function isUpToDate(database: Database): boolean {
  const existing = readParts(database);
  const isPresent = (table: Table) =>
    findMissingColumns(database, table).length === 0 &&
    describeParts(table).every(({ name, sql }) => existing.get(name)?.sql === sql);
  return readState(database)[1] === FILE_VERSION && [...tables.values()].every(isPresent);
}

function readParts(
  database: Database,
): ReadonlyMap<string, { readonly type: string; readonly table: string; readonly sql: string }> {
  const rows = database.all('SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL');
  return new Map(rows.map(([name, type, table, sql]) => [name, { type, table, sql }]));
}

function findMissingColumns(database: Database, { name, columns }: Table): string[] {
  const existing = new Set(database.all('SELECT name FROM pragma_table_info(?)', name).flat());
  return ['row', 'id', 'workspaceId', ...Object.keys(columns), 'record'].filter((column) => !existing.has(column));
}

function upgradeTable(database: Database, table: Table): void {
  const { name, columns } = table;
  const definitions = Object.entries(columns).map(
    ([column, type]) => `${quote(column)} ${type === 'text' ? 'TEXT' : 'INTEGER'}`,
  );
  const isNew = !readParts(database).has(name);
  if (isNew) {
    const fixed = ['"row" INTEGER PRIMARY KEY', '"id" TEXT NOT NULL', '"workspaceId" TEXT NOT NULL'];
    database.exec(`CREATE TABLE ${quote(name)} (${[...fixed, ...definitions, '"record" BLOB NOT NULL'].join(', ')})`);
  }
  const missing = findMissingColumns(database, table);
  const wanted = new Map(describeParts(table).map((part) => [part.name, part]));
  for (const [part, { type, table: owner, sql }] of readParts(database)) {
    const isObsolete = type !== 'table' && owner === name && !wanted.has(part);
    const isDifferent = wanted.has(part) && (missing.length > 0 || wanted.get(part)?.sql !== sql);
    if (isObsolete || isDifferent) database.exec(`DROP ${type} ${quote(part)}`);
  }
  for (const column of missing) {
    database.exec(`ALTER TABLE ${quote(name)} ADD COLUMN ${definitions.find((it) => it.startsWith(quote(column)))}`);
  }
  if (missing.length > 0) fillColumns(database, table);
  const existing = readParts(database);
  for (const { name: part, sql, fill } of wanted.values()) {
    if (existing.has(part)) continue;
    database.exec(sql);
    if (fill && !isNew) database.exec(fill);
  }
}

/** Computes the derived columns of all records, and stores them in the records and in the columns of the table. */
function fillColumns(database: Database, { name, columns, complete }: Table): void {
  const names = Object.keys(columns);
  const assignments = [...names.map((column) => `${quote(column)} = ?`), '"record" = jsonb(?)'];
  let last = 0;
  for (;;) {
    const rows = database.all(
      `SELECT "row", json("record") FROM ${quote(name)} WHERE "row" > ? ORDER BY "row" LIMIT 100`,
      last,
    );
    if (rows.length === 0) return;
    for (const [row, json] of rows) {
      const record = complete(JSON.parse(json));
      const values = [...names.map((column) => toValue(record[column])), JSON.stringify(record)];
      database.run(`UPDATE ${quote(name)} SET ${assignments.join(', ')} WHERE "row" = ?`, ...values, row);
      last = row;
    }
  }
}

function toUnusableFile(error: unknown, file: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const because = (problem: string) => new UnusableFile(`${file} ${problem}`, { cause: error });
  if (isDamaged(error)) {
    return because('is not a SQLite database, or it is damaged. Restore a backup, or choose another file.');
  }
  if (isBusy((error as Error).cause))
    return because('is used by another process. Stop that process, or try again later.');
  if (code === undefined) return error;
  return because(`cannot be opened (${message}). Check the path, the permissions and the free space.`);
}
