import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { Database, isBusy, isDamaged, retryWhileBusy } from './database.ts';
import { listStatements, quote, type Table, tables } from './layout.ts';
import { defineSearchFunction, updateSearchIndexes } from './search.ts';
import { syncToDisk } from './sync-to-disk.ts';
import { insertRecord } from './write-records.ts';

/** Identifies a file of this service (https://sqlite.org/pragma.html#pragma_application_id): "WAdv" in ASCII. */
const APPLICATION_ID = 0x57416476;
/**
 * The version of the layout. Increment it when the schemas of adapters/persistence or the statements of layout.ts and
 * search.ts change what is stored: a test fails until you do. Existing files are upgraded only then. New defaults need
 * no increment. An older version of the service rejects a file of a newer version.
 */
const FILE_VERSION = 9;

const PRAGMAS = 'PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;';
/**
 * The number of pages (4 KiB each) in the write-ahead log at which SQLite copies them into the file. With the default
 * of 1,000, creating a record takes 1.5 times as long, because most pages are copied many times.
 */
const CHECKPOINT_PAGE_COUNT = 4000;
/** A log that grew during a long read is truncated to this size when it is reused. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;
/** The number of pages in the log at which scans wait until a checkpoint has copied all of it (scan-queue.ts). */
export const MAX_SCANNED_LOG_PAGE_COUNT = 4 * CHECKPOINT_PAGE_COUNT;

// `secure_delete` overwrites deleted content, so that the file keeps no name of a deleted member.
const WRITER_PRAGMAS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGE_COUNT}; PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`;

/** The file cannot be used. The message names the file and says what to do. */
export class UnusableFile extends Error {}

/** Opens the connection that writes. Creates the file and its folder if they are missing, and upgrades its layout. */
export async function openWriter(file: string): Promise<Database> {
  let database: Database | undefined;
  try {
    createFile(file);
    const writer = await retryWhileBusy(() => new Database(file, false, PRAGMAS));
    database = writer;
    await retryWhileBusy(() => {
      rejectForeignFile(writer, file);
      writer.exec(WRITER_PRAGMAS);
      defineSearchFunction(writer);
      upgrade(writer, file);
    });
    return writer;
  } catch (error) {
    await database?.close();
    throw toUnusableFile(error, file);
  }
}

/** Opens a connection that only reads. It sees only committed data. */
export function openReader(file: string): Promise<Database> {
  return retryWhileBusy(() => new Database(file, true, PRAGMAS));
}

function createFile(file: string): void {
  createFolder(dirname(file));
  // SQLite creates other files in the folder.
  accessSync(dirname(file), constants.W_OK);
  // An existing file is not opened: closing it would release the locks of other connections of this process
  // (https://sqlite.org/howtocorrupt.html, section 2.2).
  if (!existsSync(file)) {
    // If the path is a link to a missing file, this creates the missing file. SQLite would create it readable by
    // everybody.
    closeSync(openSync(file, 'a', 0o600));
    return;
  }
  if (statSync(file).isDirectory()) throw new UnusableFile(`${file} is a folder. Choose a file in it.`);
  accessSync(file, constants.R_OK | constants.W_OK);
}

/**
 * Creates a folder and its parents if they are missing, and syncs the entry of each new folder in its parent. SQLite
 * syncs the entries of its own files.
 */
function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    syncToDisk(dirname(folder));
  } catch {
    // Some file systems cannot sync a folder. SQLite ignores this, too.
  }
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

/**
 * Identifies the files at the path of an open database: the database, its write-ahead log, and the index of the log. If
 * one of them is missing or replaced, other programs do not find what this process writes.
 */
export function identifyFiles(file: string): string {
  const path = realpathSync(file);
  return [path, `${path}-wal`, `${path}-shm`].map(identifyFile).join();
}

/**
 * Returns the device and the inode of a file: two paths with the same result name the same file. Throws if the file is
 * missing.
 */
function identifyFile(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** Throws if a newer version of the service has upgraded the file while this process uses it. */
export function rejectUpgradedFile(database: Database): void {
  const version = database.all('PRAGMA user_version')[0]?.[0];
  if (version <= FILE_VERSION) return;
  throw new Error(
    'A newer version of this service has upgraded the database file: stop this process, and start the newer version.',
  );
}

function readState(database: Database): [applicationId: number, version: number, schemaObjectCount: number] {
  const count = '(SELECT count(*) FROM sqlite_schema)';
  const sql = `SELECT a.application_id, v.user_version, ${count} FROM pragma_application_id a, pragma_user_version v`;
  return database.all(sql)[0] as [number, number, number];
}

/**
 * Creates the layout in a new file, or replaces the layout of an older version, in one transaction. All records get the
 * defaults and the derived columns of this version, and are written into new tables. Several processes may do this at
 * the same time.
 */
function upgrade(database: Database, file: string): void {
  if (readState(database)[1] === FILE_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have upgraded the file since the first check.
    rejectForeignFile(database, file);
    if (readState(database)[1] !== FILE_VERSION) replaceLayout(database);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FILE_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isInTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function replaceLayout(database: Database): void {
  // Virtual tables come first, because dropping them drops other tables, too.
  const existing = database
    .all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC")
    .flat();
  database.exec('CREATE TABLE "old" ("name" TEXT, "record" BLOB)');
  for (const name of existing.filter((it) => tables.has(it))) {
    database.run(`INSERT INTO "old" SELECT ?, "record" FROM ${quote(name)}`, name);
  }
  for (const name of existing) database.exec(`DROP TABLE IF EXISTS ${quote(name)}`);
  for (const table of tables.values()) for (const sql of listStatements(table)) database.exec(sql);
  for (let last = 0, rows = []; ; last = rows.at(-1)?.[0]) {
    rows = database.all('SELECT rowid, name, json(record) FROM "old" WHERE rowid > ? ORDER BY rowid LIMIT 100', last);
    if (rows.length === 0) break;
    for (const [, name, json] of rows) {
      const table = tables.get(name) as Table;
      insertRecord(database, table, table.schema.complete(JSON.parse(json)));
    }
    updateSearchIndexes(database);
  }
  database.exec('DROP TABLE "old"');
}

/** Converts an error of the file system or of SQLite to `UnusableFile`. Returns any other error unchanged. */
function toUnusableFile(error: unknown, file: string): unknown {
  const original = error instanceof StorageUnavailable ? error.cause : error;
  const { code, message } = original as NodeJS.ErrnoException;
  const createError = (problem: string) => new UnusableFile(`${file} ${problem}`, { cause: error });
  if (isDamaged(original)) {
    return createError('is not a SQLite database, or it is damaged. Restore a backup, or choose another file.');
  }
  if (isBusy(original)) return createError('is used by another process. Stop that process, or try again later.');
  if (code === undefined) return error;
  return createError(`cannot be opened (${message}). Check the path, the permissions and the free space.`);
}
