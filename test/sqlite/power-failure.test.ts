import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { buildCampaign, newId } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { assertIntact, PAGE_BYTES, removeSearchIndexes, withOpenEngine } from './database-file.ts';
import { assertNothingLost, type WriterProcess, withWriters } from './writers.ts';

const FILE_COUNT = quickOrLong(1, 8);
const CHECKPOINT_COUNT = quickOrLong(2, 4);
/** A process reaches each state after one or two checkpoints, which takes some seconds on a busy machine. */
const STOP_TIMEOUT_MS = 60_000;
const UPGRADE_COUNT = quickOrLong(3, 20);
/** The number of campaigns whose search index the upgrade fills. The index has about 100 pages. */
const CAMPAIGN_COUNT = 100;
/**
 * The sizes of the header of a write-ahead log and of a page in it
 * (https://sqlite.org/fileformat2.html#the_write_ahead_log).
 */
const LOG_HEADER_SIZE = 32;
const LOGGED_PAGE_SIZE = 24 + PAGE_BYTES;
/** The size of a sector, which a disk writes completely or not at all. A page has eight sectors. */
const SECTOR_SIZE = 512;

/** The contents of a database file and its write-ahead log. */
interface Files {
  readonly database: Buffer;
  readonly log: Buffer;
}

function readFiles(file: string): Files {
  return { database: readFileSync(file), log: readFileSync(`${file}-wal`) };
}

/** Returns how often the log was begun again after a checkpoint. */
const getLogNumber = ({ log }: Files): number => log.readUInt32BE(12);

interface LogState {
  /** The number of pages in the log up to the last commit. SQLite counts a commit after the log is synced. */
  readonly committedCount: number;
  /** Whether a checkpoint copies pages from the log into the database file. At its end, SQLite syncs the file. */
  readonly isCopying: boolean;
}

/**
 * Reads the state that all connections share in a file (https://sqlite.org/walformat.html#the_wal_index_file_format).
 */
function readLogState(file: string): LogState {
  const index = existsSync(`${file}-shm`) ? readFileSync(`${file}-shm`) : Buffer.alloc(0);
  // The process has not opened the file yet.
  if (index.length === 0) return { committedCount: 0, isCopying: false };
  const committedCount = index.readUInt32LE(16);
  const copiedCount = index.readUInt32LE(96);
  const countToCopy = index.readUInt32LE(128);
  return { committedCount, isCopying: copiedCount < countToCopy && countToCopy <= committedCount };
}

/**
 * Lets a process run until a condition is met, and then stops the process. This takes a moment, so the condition may be
 * false again. Rejects if the process has ended, or if the condition is not met within `STOP_TIMEOUT_MS`.
 */
async function stopWhen(writer: WriterProcess, isMet: () => boolean): Promise<void> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  writer.process.kill('SIGCONT');
  while (!isMet()) {
    assert.ok(!writer.hasEnded, 'the process has ended');
    assert.ok(performance.now() < deadline, `the process was not in the expected state within ${STOP_TIMEOUT_MS} ms`);
    await nextIteration();
  }
  writer.process.kill('SIGSTOP');
  await delay(50);
}

type Fate = 'lost' | 'kept' | 'damaged';

/** For each simulated power failure, the possible fates of a sector that was written and not yet synced. */
const powerFailures: readonly (readonly Fate[])[] = [['lost'], ['kept'], ['lost', 'kept'], ['lost', 'kept', 'damaged']];

/**
 * Returns what a power failure leaves of a file with the content `now`. The first `syncedSize` bytes are on the disk.
 * Of each later sector, the disk had the content in `before` until the sector was written.
 */
function failPower(before: Buffer, now: Buffer, syncedSize: number, fates: readonly Fate[]): Buffer {
  const left = Buffer.from(now);
  let size = Math.max(syncedSize, Math.min(before.length, now.length));
  for (let at = syncedSize; at < now.length; at += SECTOR_SIZE) {
    const sector = left.subarray(at, at + SECTOR_SIZE);
    const old = before.subarray(at, at + SECTOR_SIZE);
    if (sector.equals(old)) continue;
    const fate = fates[Math.floor(Math.random() * fates.length)];
    if (fate !== 'kept') sector.fill(fate === 'damaged' ? 7 : 0);
    if (fate === 'lost') old.copy(sector);
    else size = Math.max(size, at + sector.length);
  }
  return left.subarray(0, size);
}

/**
 * Calls `check` for copies of the files of a stopped process, as power failures can leave them. `before` is an earlier
 * state of the files, after which at most one checkpoint has begun.
 */
async function checkAfterPowerFailures(file: string, before: Files, check: (copy: string) => Promise<void>) {
  const now = readFiles(file);
  const { committedCount, isCopying } = readLogState(file);
  // The header of a log is on the disk when pages follow it.
  const hasNewPages = !now.log.subarray(LOG_HEADER_SIZE).equals(before.log.subarray(LOG_HEADER_SIZE));
  const syncedHeaderSize = committedCount > 0 || hasNewPages ? LOG_HEADER_SIZE : 0;
  const syncedLogSize = syncedHeaderSize + committedCount * LOGGED_PAGE_SIZE;
  for (const [i, fates] of powerFailures.entries()) {
    const copy = `${file}.copy${i}`;
    // Only a checkpoint writes to the database file.
    const database = isCopying ? failPower(before.database, now.database, 0, fates) : now.database;
    writeFileSync(copy, database);
    writeFileSync(`${copy}-wal`, failPower(before.log, now.log, syncedLogSize, fates));
    await check(copy);
  }
}

// These tests stop a process, and simulate power failures on copies of its files. They assume that SQLite syncs:
// - the log before it counts a commit, and before a checkpoint writes to the database file
// - the database file before a commit overwrites the log
// - the header of the log before the pages that follow
suite('a SQLite file after a power failure', {
  'loses no acknowledged write, even if the power failed during a checkpoint or when the log began again': withWriters(
    async (base, start) => {
      for (let i = 0; i < FILE_COUNT; i++) {
        const file = `${base}.${i}`;
        const writer = start(file, 8);
        const isCopying = () => readLogState(file).isCopying;
        await stopWhen(writer, () => writer.acknowledged.length > 0);
        for (let checkedCount = 0; checkedCount < CHECKPOINT_COUNT; ) {
          let before = readFiles(file);
          await stopWhen(writer, isCopying);
          while (!isCopying() || getLogNumber(readFiles(file)) !== getLogNumber(before)) {
            // The checkpoint has ended, or is not the first one after `before`.
            before = readFiles(file);
            await stopWhen(writer, isCopying);
          }
          await checkAfterPowerFailures(file, before, (copy) => assertNothingLost(copy, writer.acknowledged));

          // A commit after the checkpoint overwrites the log from its beginning. The rest still has pages of earlier
          // commits.
          before = readFiles(file);
          const { committedCount } = readLogState(file);
          const minCount = checkedCount % 2 === 0 ? 0 : Math.random() * 1_000;
          await stopWhen(writer, () => {
            const state = readLogState(file);
            return state.committedCount >= minCount && state.committedCount < committedCount;
          });
          // The process has run until the next checkpoint.
          if (isCopying() || getLogNumber(readFiles(file)) > getLogNumber(before) + 1) continue;
          await checkAfterPowerFailures(file, before, (copy) => assertNothingLost(copy, writer.acknowledged));
          checkedCount++;
        }
        await writer.kill();
      }
    },
  ),

  'loses nothing and can be upgraded, even if the power failed during an upgrade': withWriters(async (file, start) => {
    const workspaceId = newId();
    const campaigns = Array.from({ length: CAMPAIGN_COUNT }, (_, i) =>
      buildCampaign(workspaceId, { name: `text ${i}. ${randomBytes(500).toString('hex')}` }),
    );
    const { id } = campaigns[7] as { readonly id: string };
    await withOpenEngine(file, async ({ engine, writer }) => {
      await addAll(engine.campaigns, campaigns);
      removeSearchIndexes(writer);
    });
    const assertUpgraded = (copy: string) =>
      withOpenEngine(copy, async ({ engine, writer }) => {
        const find = async (contains: string) => {
          const where = [{ field: 'searchText', contains }] as const;
          const query = { where, by: 'createdAt', order: 'asc', skip: 0, take: 2 } as const;
          return (await engine.campaigns.list(workspaceId, query)).map((campaign) => campaign.id);
        };
        assertIntact(writer);
        assert.equal(await engine.campaigns.count(workspaceId, []), CAMPAIGN_COUNT);
        assert.deepEqual(await find('text 7.'), [id]);
        await engine.campaigns.update(workspaceId, id, (it) => ({ ...it, searchText: 'new' }));
        assert.deepEqual([await find('text 7.'), await find('new')], [[], [id]]);
        assertIntact(writer);
      });

    const upgraded = `${file}.upgraded`;
    copyFileSync(file, upgraded);
    const maxLogSize = await withOpenEngine(upgraded, async () => statSync(`${upgraded}-wal`).size);
    let interruptedCount = 0;
    for (let i = 0; i < UPGRADE_COUNT; i++) {
      const original = `${file}.${i}`;
      copyFileSync(file, original);
      const before = { database: readFileSync(original), log: Buffer.alloc(0) };
      const writer = start(original, 1);
      const minLogSize = i % 2 === 0 ? 0 : Math.random() * maxLogSize;
      await stopWhen(writer, () => existsSync(`${original}-wal`) && statSync(`${original}-wal`).size > minLogSize);
      if (readLogState(original).committedCount === 0) interruptedCount++;
      await checkAfterPowerFailures(original, before, assertUpgraded);
      await writer.kill();
    }
    assert.ok(interruptedCount > 0, 'no upgrade was interrupted before its commit');
  }),
});
