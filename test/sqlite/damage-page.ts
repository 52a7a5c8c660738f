import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { Database } from '../../adapters/sqlite/database.ts';
import { PAGE_BYTES } from './database-file.ts';

/**
 * Overwrites the last `byteCount` bytes of a page of a table with zeros, like a disk that loses a write. The page is in
 * the middle of the table, and contains some of the rows. Returns the old content of the page.
 *
 * The damage is hidden by a change of the page that is only in the write-ahead log, and by the cache of a connection
 * that has read the page. This process must have no connection to the file: this function closes the file, and so would
 * release the locks of the connection.
 */
export async function damagePage(file: string, table: string, byteCount = PAGE_BYTES): Promise<Buffer> {
  const database = new Database(file, true, '');
  const sql = `SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`;
  const pages = database.all(sql, table).flat();
  await database.close();
  assert.ok(pages.length > 10, `${table} has ${pages.length} pages with rows`);
  const at = (pages[pages.length >> 1] - 1) * PAGE_BYTES;
  const descriptor = openSync(file, 'r+');
  const content = Buffer.alloc(PAGE_BYTES);
  readSync(descriptor, content, 0, PAGE_BYTES, at);
  writeSync(descriptor, Buffer.alloc(byteCount), 0, byteCount, at + PAGE_BYTES - byteCount);
  closeSync(descriptor);
  return content;
}
