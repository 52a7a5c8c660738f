import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteEngine } from '../../../adapters/sqlite/engine.ts';
import { DEMO_API_KEY } from '../request.ts';
import type { TestEngine } from './engine.ts';

export const sqlite: TestEngine = {
  name: 'sqlite',
  transactions: 'serialized',
  isShared: true,
  rejectsForeignIds: true,
  takesClock: true,
  async createDatabase() {
    const folder = await mkdtemp(join((await hasSpaceInMemory()) ? MEMORY_FOLDER : tmpdir(), 'sqlite-'));
    return { location: join(folder, 'advocacy.db'), remove: () => rm(folder, { recursive: true }) };
  },
  createSettings: (location) => ({
    STORAGE: 'sqlite',
    SQLITE_FILE: location,
    DEMO_WORKSPACE: 'false',
    DEMO_API_KEY: undefined as never,
  }),
  demoSettings: { DEMO_WORKSPACE: 'true', DEMO_API_KEY },
  async open(location, now) {
    const { engine, connection } = createSqliteEngine(location, now);
    await connection.open();
    return { engine, close: () => connection.close() };
  },
};

/** A folder in memory on Linux. Tests in it do not wait until a disk has written their data. */
const MEMORY_FOLDER = '/dev/shm';
const NEEDED_BYTES = 2 ** 30;

async function hasSpaceInMemory(): Promise<boolean> {
  const { bavail, bsize } = await statfs(MEMORY_FOLDER).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= NEEDED_BYTES;
}
