import assert from 'node:assert/strict';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { withDatabasePath, withOpenEngine } from './database-file.ts';
import type { AcknowledgedWrite } from './writer-process.ts';
import { assertNothingLost, withWriters } from './writers.ts';

const ROUND_COUNT = quickOrLong(4, 40);

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

  'is in WAL mode with synchronous=FULL, so that each commit is on disk': withDatabasePath((file) =>
    withOpenEngine(file, async ({ writer }) => {
      assert.deepEqual(writer.all('PRAGMA synchronous'), [[2]]);
      assert.deepEqual(writer.all('PRAGMA journal_mode'), [['wal']]);
    }),
  ),
});
