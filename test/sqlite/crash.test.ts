import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { PAGE_BYTES, withDatabasePath, withOpenEngine } from './database-file.ts';
import type { AcknowledgedWrite } from './writer-process.ts';
import { assertNothingLost, withWriters } from './writers.ts';

const ROUND_COUNT = quickOrLong(4, 40);
/**
 * A little less than the size of the log at which SQLite copies it into the file (`CHECKPOINT_PAGE_COUNT` in
 * adapters/sqlite/file.ts).
 */
const MAX_LOG_SIZE = 4_000 * PAGE_BYTES;

suite('a SQLite file after a crash', {
  'loses no acknowledged write and has no incomplete transaction after SIGKILL': withWriters(async (file, start) => {
    const all: AcknowledgedWrite[] = [];
    for (let round = 0; round < ROUND_COUNT; round++) {
      const writers = [start(file, 8), start(file, 1)];
      for (const writer of writers) await writer.waitForWrites();
      for (const writer of writers) await writer.kill();
      all.push(...writers.flatMap(({ acknowledged }) => acknowledged));
      await assertNothingLost(file, all);
    }
  }),

  // The writer stops, so that the copy is consistent. The write-ahead log grows only at its end, because it has not
  // reached `MAX_LOG_SIZE`. A commit is acknowledged after its part of the log is on disk. So only what follows the
  // last acknowledged size can be lost or damaged.
  'loses no acknowledged write if a power failure loses or damages the part of the log that was not yet synced':
    withWriters(async (file, start) => {
      for (let round = 0; round < ROUND_COUNT; round++) {
        const original = `${file}.${round}`;
        const writer = start(original, 1 + (round % 8));
        const minLogSize = Math.random() * (MAX_LOG_SIZE / 8);
        await waitUntil(() => (writer.acknowledged.at(-1)?.logSize ?? 0) > minLogSize);
        writer.process.kill('SIGSTOP');
        await delay(50);
        const { acknowledged } = writer;
        const log = readFileSync(`${original}-wal`);
        const syncedSize = acknowledged.at(-1)?.logSize as number;
        assert.ok(log.length >= syncedSize && log.length < MAX_LOG_SIZE, `${log.length} bytes`);
        const kept = syncedSize + Math.floor(Math.random() * (log.length - syncedSize + 1));
        const tails = [Buffer.alloc(0), Buffer.alloc(log.length - kept), Buffer.alloc(log.length - kept, 7)];
        for (const [i, tail] of tails.entries()) {
          const copy = `${original}.copy${i}`;
          copyFileSync(original, copy);
          writeFileSync(`${copy}-wal`, Buffer.concat([log.subarray(0, kept), tail]));
          await assertNothingLost(copy, acknowledged);
        }
        await writer.kill();
      }
    }),

  'is in WAL mode with synchronous=FULL, so that each commit is on disk': withDatabasePath((file) =>
    withOpenEngine(file, async ({ writer }) => {
      assert.deepEqual(writer.all('PRAGMA synchronous'), [[2]]);
      assert.deepEqual(writer.all('PRAGMA journal_mode'), [['wal']]);
    }),
  ),
});
