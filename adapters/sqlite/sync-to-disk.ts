import { closeSync, fsyncSync, openSync } from 'node:fs';

/**
 * Waits until a file, or the entries of a folder, are on the disk. `path` must not be an open database file
 * (docs/adr/0021-sqlite.md).
 */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
