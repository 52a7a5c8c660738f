import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { Database } from '../../adapters/sqlite/database.ts';

/** The default size of a page. */
const PAGE_BYTES = 4_096;

/**
 * Overwrites the last `byteCount` bytes of a page of a table with zeros, as a disk can do that loses a write. The page is in the middle of
 * the table, and has some of its rows. Returns the content that it had. A change that is only in the write-ahead log hides the damage, and
 * so does the cache of a connection that has read the page. No connection of this process must use the file, because closing it here
 * releases their locks.
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
