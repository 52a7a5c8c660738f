import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Database } from '../../adapters/sqlite/database.ts';
import { buildCampaign, newId } from '../contract/samples.ts';
import { suite } from '../support/suite.ts';
import { withDatabasePath, withOpenEngine } from './database-file.ts';

const add = (engine: StorageEngine, workspaceId: string, texts: readonly string[], fields?: Partial<CampaignRecord>) =>
  Promise.all(texts.map((searchText) => engine.campaigns.add(buildCampaign(workspaceId, { ...fields, searchText }))));

const search = async (
  { campaigns }: StorageEngine,
  workspaceId: string,
  contains: string,
  isAbandoned = () => false,
) => {
  const where = [{ field: 'searchText', contains }] as const;
  const query = { where, by: 'createdAt', order: 'desc', skip: 0, take: 21, fields: ['id'], isAbandoned } as const;
  return campaigns.list(workspaceId, query);
};

/** The processor time of this process, in milliseconds. Other processes do not change it. */
const getProcessorMs = () => process.cpuUsage().user / 1000;

/** Runs work, and returns the maximum processor time between two turns of the event loop. */
async function measureLongestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isDone = false;
  const watch = async () => {
    for (let last = getProcessorMs(); !isDone; last = getProcessorMs()) {
      await nextIteration();
      longest = Math.max(longest, getProcessorMs() - last);
    }
  };
  const watching = watch();
  await work();
  isDone = true;
  await watching;
  return longest;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** Returns the median processor time of a search. */
async function measureSearch(engine: StorageEngine, workspaceId: string, term: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 41; i++) {
    const before = getProcessorMs();
    await search(engine, workspaceId, term);
    times.push(getProcessorMs() - before);
  }
  return median(times);
}

/** Counts the pages that each commit writes to the log. */
function recordWrittenPages(writer: Database): readonly number[] {
  const counts: number[] = [];
  let before = 0;
  const exec = writer.exec.bind(writer);
  writer.exec = (sql) => {
    exec(sql);
    if (sql !== 'COMMIT') return;
    const [[, pageCount] = []] = writer.all('PRAGMA wal_checkpoint(NOOP)');
    counts.push(pageCount >= before ? pageCount - before : pageCount);
    before = pageCount;
  };
  return counts;
}

suite('callers that share a SQLite file', {
  'are not blocked by a search for a long term in texts that have all its parts': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const workspaceId = newId();
      const dense = 'ab'.repeat(2500);
      await add(
        engine,
        workspaceId,
        Array.from({ length: 500 }, () => dense),
      );
      // Each text has each part of the first term, but not the term.
      for (const [term, count] of [
        [`${'ab'.repeat(60)}ba${'ab'.repeat(39)}`, 0],
        ['ab'.repeat(100), 21],
      ] as const) {
        let found: readonly unknown[] = [];
        const longest = await measureLongestBlock(async () => (found = await search(engine, workspaceId, term)));
        assert.equal(found.length, count);
        assert.ok(longest < 100, `${longest} ms without a pause`);
      }
    }),
  ),

  'are served in turn by workspace while one workspace sends many searches': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const [busy, other] = [newId(), newId()];
      await add(
        engine,
        busy,
        Array.from({ length: 3000 }, (_, i) => `text ${i}`),
      );
      await add(engine, other, ['one']);
      let endedCount = 0;
      const searches = Promise.all(
        Array.from({ length: 40 }, async () => {
          await search(engine, busy, 'q!');
          endedCount++;
        }),
      );
      await nextIteration();
      await search(engine, other, 'q!');
      const endedBefore = endedCount;
      await searches;
      // In the order of arrival, all 40 would end before. A few can end while the connection of the other search opens.
      assert.ok(endedBefore <= 20, `${endedBefore} searches of another workspace ended before`);
    }),
  ),

  'do not pay for searches whose clients have gone': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const workspaceId = newId();
      await add(engine, workspaceId, Array(3000).fill('ab'.repeat(500)));
      await search(engine, workspaceId, 'bb');
      let before = getProcessorMs();
      await search(engine, workspaceId, 'bb');
      const one = getProcessorMs() - before;
      let hasGone = false;
      const searches = Array.from({ length: 40 }, () => search(engine, workspaceId, 'bb', () => hasGone));
      await nextIteration();
      before = getProcessorMs();
      hasGone = true;
      const rejected = (await Promise.allSettled(searches)).filter(({ status }) => status === 'rejected');
      assert.ok(rejected.length >= 36, `${rejected.length} of 40 ended`);
      const all = getProcessorMs() - before;
      assert.ok(all < 10 * one, `${all} ms for 40 abandoned searches, ${one} ms for one`);
    }),
  ),

  'do not learn from the time of a search whether another workspace has the text': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const [mine, other] = [newId(), newId()];
      const text = 'the secret project of another company, which appears in each of its campaigns';
      await add(
        engine,
        mine,
        Array.from({ length: 50 }, (_, i) => `campaign ${i}`),
      );
      const before = await measureSearch(engine, mine, text);
      await add(
        engine,
        other,
        Array.from({ length: 1100 }, () => text),
      );
      const [present, absent] = [
        await measureSearch(engine, mine, text),
        await measureSearch(engine, mine, text.split('').reverse().join('')),
      ];
      const limit = 2 * Math.max(before, absent) + 0.2;
      assert.ok(present < limit, `${present} ms, ${absent} ms for an absent text, ${before} ms before`);
    }),
  ),

  'can always restart the log, even if searches overlap': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      // Scans of different lengths do not end at the same time.
      const workspaceIds = [newId(), newId(), newId()];
      for (const [i, id] of workspaceIds.entries()) await add(engine, id, Array(700 * (i + 1)).fill('ab'.repeat(500)));
      let isDone = false;
      const searchUntilDone = async (workspaceId: string) => {
        while (!isDone) await search(engine, workspaceId, 'bb');
      };
      const searching = workspaceIds.map(searchUntilDone);
      const getPageCount = () => writer.all('PRAGMA wal_checkpoint(NOOP)')[0]?.[1] as number;
      writer.exec(`CREATE TABLE filler AS WITH RECURSIVE number(n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 16001) SELECT randomblob(4000) FROM number`);
      assert.ok(getPageCount() > 16_000);
      for (let i = 0; i < 300 && getPageCount() > 16_000; i++) await add(engine, newId(), ['another']);
      assert.ok(getPageCount() < 16_000, `${getPageCount()} pages`);
      isDone = true;
      await Promise.all(searching);
    }),
  ),

  'are not blocked by merges of the search index': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      const counts = recordWrittenPages(writer);
      const workspaceId = newId();
      const buildText = (i: number) =>
        Array.from({ length: 5000 }, (_, k) =>
          String.fromCharCode(0x4e00 + (((i * 5000 + k) * 2_654_435_761) % 20_000)),
        ).join('');
      for (let i = 0; i < 400; i += 4)
        await add(
          engine,
          workspaceId,
          [0, 1, 2, 3].map((k) => buildText(i + k)),
        );
      const most = Math.max(...counts);
      // About 500 pages, of which `secure_delete` overwrites a third.
      assert.ok(most < 600, `a commit wrote ${most} pages`);
    }),
  ),

  'are not slowed down by readiness checks': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const measure = async (count: number, work: () => Promise<unknown>) => {
        const before = process.cpuUsage();
        for (let i = 0; i < count; i++) await work();
        const { user, system } = process.cpuUsage(before);
        return (user + system) / count;
      };
      const read = () => engine.tags.list(newId(), { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 });
      await measure(100, read);
      const [readTime, checkTime] = [await measure(500, read), await measure(500, () => engine.checkReady())];
      assert.ok(checkTime < 5 * readTime, `${checkTime} µs, ${readTime} µs for a read`);
    }),
  ),
});
