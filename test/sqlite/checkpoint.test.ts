import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import type { Database } from '../../adapters/sqlite/database.ts';
import { buildCampaign, buildTag, newId } from '../contract/samples.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { withDatabasePath, withOpenEngine } from './database-file.ts';

const MAX_PAGE_COUNT = 4_000;
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;
/** More pages than an idle log may have. */
const LONG_LOG_PAGE_COUNT = 17_000;
const CHECKPOINT_COUNT = quickOrLong(2, 10);

/** The state of a write-ahead log. */
interface LogState {
  readonly pageCount: number;
  /** The number of pages of the log that checkpoints have copied into the file. */
  readonly copiedCount: number;
}

function readLogState(writer: Database): LogState {
  // In this mode, SQLite 3.51 or newer copies nothing (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
  const [[, pageCount, copiedCount] = []] = writer.all('PRAGMA wal_checkpoint(NOOP)');
  return { pageCount, copiedCount };
}

/** Records the state of the log after each commit. */
function recordLogStates(writer: Database): readonly LogState[] {
  const states: LogState[] = [];
  const exec = writer.exec.bind(writer);
  writer.exec = (sql) => {
    exec(sql);
    if (sql === 'COMMIT') states.push(readLogState(writer));
  };
  return states;
}

// A commit can include a checkpoint, and blocks the event loop until it ends. So these tests limit the number of pages
// that a checkpoint copies.
suite('a checkpoint of a SQLite file', {
  'copies at most the pages of its commit and 3,999 others': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      const states = recordLogStates(writer);
      const workspaceId = newId();
      const countCheckpoints = () => states.filter((it) => it.copiedCount === it.pageCount).length;
      while (countCheckpoints() < CHECKPOINT_COUNT) {
        const added = Array.from({ length: 20 }, () => engine.campaigns.add(buildCampaign(workspaceId)));
        await Promise.all(added);
        const { pageCount, copiedCount } = states.at(-1) as LogState;
        assert.ok(pageCount - copiedCount < MAX_PAGE_COUNT, `a commit left ${pageCount - copiedCount} pages to copy`);
      }
    }),
  ),

  'copies all pages during the first commit after a long read, so that the log can be short again': withDatabasePath(
    (file) =>
      withOpenEngine(file, async ({ engine, writer, reader }) => {
        for (const name of ['one', 'two']) await engine.tags.add(buildTag(newId(), name));
        const rows = reader.iterate('SELECT "row" FROM tags');
        rows.next();
        writer.exec(`CREATE TABLE filler AS WITH RECURSIVE number(n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${LONG_LOG_PAGE_COUNT}) SELECT randomblob(4000) FROM number`);
        await engine.tags.add(buildTag(newId(), 'three'));
        const { pageCount, copiedCount } = readLogState(writer);
        assert.ok(pageCount - copiedCount >= LONG_LOG_PAGE_COUNT, `${copiedCount} of ${pageCount} pages were copied`);
        assert.ok(statSync(`${file}-wal`).size > MAX_IDLE_LOG_BYTES);
        rows.return?.();

        await engine.tags.add(buildTag(newId(), 'four'));
        const copied = readLogState(writer);
        assert.ok(copied.copiedCount > pageCount && copied.copiedCount === copied.pageCount, JSON.stringify(copied));
        await engine.tags.add(buildTag(newId(), 'five'));
        assert.ok(readLogState(writer).pageCount < 100);
        assert.ok(statSync(`${file}-wal`).size <= MAX_IDLE_LOG_BYTES);
      }),
  ),
});
