import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Database, retryWhileBusy } from './database.ts';
import { syncToDisk } from './sync-to-disk.ts';

/**
 * Writes a consistent copy of a database to a new file, which only its owner can read. The name of the file ends with `.incomplete` until
 * the file is complete and on the disk. Rejects with the code `EEXIST` if the file exists. Also rejects, without a code, if the
 * incomplete file exists: another process may be writing it.
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
