import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Database, retryWhileBusy } from './database.ts';
import { quote, tables } from './layout.ts';
import { syncToDisk } from './sync-to-disk.ts';

/** The flag of `json_valid` for binary JSON in which each value is valid (https://sqlite.org/json1.html#jvalid). */
const STRICT_JSONB = 8;

/**
 * Writes a consistent copy of a database to a new file, which only its owner can read. The name of the file ends with
 * `.incomplete` until the file is complete, checked and on the disk. Rejects with the code `EEXIST` if the file exists.
 * Rejects without a code if the copy is damaged. Also rejects without a code if the incomplete file exists, because
 * another process may be writing it.
 */
export async function backUp(database: Database, file: string): Promise<void> {
  rejectExisting(file);
  const incomplete = `${file}.incomplete`;
  if (existsSync(incomplete)) {
    throw new Error(`${incomplete} exists. Another backup is running or was killed. If none is running, remove it`);
  }
  closeSync(openSync(incomplete, 'wx', 0o600));
  try {
    await retryWhileBusy(() => database.run('VACUUM INTO ?', incomplete));
    await throwIfDamaged(incomplete);
    syncToDisk(incomplete);
    rejectExisting(file);
    renameSync(incomplete, file);
    syncToDisk(dirname(file));
  } catch (error) {
    rmSync(incomplete, { force: true });
    throw error;
  }
}

function rejectExisting(file: string): void {
  if (existsSync(file)) throw Object.assign(new Error(`${file} already exists`), { code: 'EEXIST' });
}

/**
 * Throws if a copy has a damaged page or record. SQLite copies most rows without reading their values, so copying a
 * damaged row does not fail. Neither `quick_check` nor `json_valid` compares the rows with their indexes. `PRAGMA
 * integrity_check` would, but it takes long, because it looks up each row in each index.
 */
async function throwIfDamaged(file: string): Promise<void> {
  const copy = new Database(file, true, '');
  const isJson = (table: string) =>
    copy.all(`SELECT 1 FROM ${quote(table)} WHERE NOT json_valid("record", ${STRICT_JSONB}) LIMIT 1`).length === 0;
  try {
    const [[result] = []] = copy.all('PRAGMA quick_check(1)');
    if (result === 'ok' && [...tables.keys()].every(isJson)) return;
  } finally {
    await copy.close();
  }
  throw new Error('the copy is damaged, and the database may be, too');
}
