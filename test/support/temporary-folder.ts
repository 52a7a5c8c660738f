import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder in memory on Linux. Tests in it do not wait until a disk has written their data. */
const MEMORY_FOLDER = '/dev/shm';
const NEEDED_BYTES = 2 ** 30;

/** Returns the folder in memory if it has enough space, and otherwise the folder for temporary files. */
export async function findFastFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY_FOLDER).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= NEEDED_BYTES ? MEMORY_FOLDER : tmpdir();
}

/** Passes an empty folder on the disk to a test, and removes the folder afterwards. */
export async function withTemporaryFolder<T>(test: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
  try {
    return await test(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
