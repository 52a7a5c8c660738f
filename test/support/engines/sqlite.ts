import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSqliteEngine } from '../../../adapters/sqlite/engine.ts';
import { openReader } from '../../../adapters/sqlite/file.ts';
import { getDatabases, PAGE_BYTES } from '../../sqlite/database-file.ts';
import { DEMO_API_KEY } from '../request.ts';
import { findFastFolder } from '../temporary-folder.ts';
import type { TestDatabase, TestEngine } from './engine.ts';

/**
 * How many pages SQLite reads to find a record: the depth of the B-tree of a table or an index with some thousand
 * records.
 */
const PAGES_PER_RECORD = 3;
/** The step of the clock during a slow list. A list must not reach the limit while it waits for its turn. */
const CLOCK_STEP_MS = 500;

export const sqlite: TestEngine = {
  name: 'sqlite',
  transactions: 'serialized',
  isShared: true,
  takesClock: true,
  async createDatabase() {
    const { location, remove } = await createFolder();
    emptyFile ??= createEmptyFile();
    await writeFile(location, await emptyFile);
    return { location, remove };
  },
  createUnopenedDatabase: createFolder,
  /** Lets the clock of this process run ahead. */
  async runSlowList(list) {
    const { now } = performance;
    let callCount = 0;
    performance.now = () => now.call(performance) + ++callCount * CLOCK_STEP_MS;
    return list().finally(() => (performance.now = now));
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
    // Without a cache, SQLite reads each page from the file, so that `countExaminedRecords` counts it.
    const scanner = await openReader(location);
    for (const database of [getDatabases(connection).reader, scanner]) database.exec('PRAGMA cache_size = 0');
    // biome-ignore lint/complexity/useLiteralKeys: the field is private
    connection['idleScanners'].push(scanner);
    return {
      engine,
      close: () => connection.close(),
      rollBackTransactions: async () => getDatabases(connection).writer.exec('ROLLBACK'),
    };
  },
  countExaminedRecords: process.platform === 'linux' ? countExaminedRecords : 'unmeasurable',
};

/**
 * The content of a file without records. Opening a copy of the file takes a tenth of the time of creating the tables in
 * a new file.
 */
let emptyFile: Promise<Buffer> | undefined;

async function createEmptyFile(): Promise<Buffer> {
  const { location, remove } = await createFolder();
  const { connection } = createSqliteEngine(location);
  await connection.open();
  await connection.close();
  const content = await readFile(location);
  await remove();
  return content;
}

async function createFolder(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(await findFastFolder(), 'sqlite-'));
  return { location: join(folder, 'advocacy.db'), remove: () => rm(folder, { recursive: true }) };
}

/**
 * Returns about how many records a list reads, from the number of pages that it reads. Without a cache, SQLite reads
 * all pages from the root of a tree down to a record. Linux counts the bytes that a process reads.
 */
async function countExaminedRecords(_: string, readList: () => Promise<unknown>): Promise<number> {
  // The first call prepares the statements.
  await readList();
  const before = readByteCount();
  const overhead = readByteCount() - before;
  const start = readByteCount();
  await readList();
  return Math.round((readByteCount() - start - overhead) / PAGE_BYTES / PAGES_PER_RECORD);
}

function readByteCount(): number {
  return Number(/^rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
