import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { createNodeSystem } from '../../adapters/node/system.ts';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import { createStorage, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { Database } from '../../adapters/sqlite/database.ts';
import { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { assertRejectsWithConflict } from '../contract/assert-rejects-with-conflict.ts';
import { buildCampaign, buildGroup, buildIdempotencyRecord, buildTag, newId } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { damagePage } from './damage-page.ts';
import { assertIntact, type OpenFile, withDatabasePath, withOpenEngine } from './database-file.ts';

/** Runs `work` with a monotonic clock that advances by `stepMs` whenever it is read. */
function withStepClock<T>(stepMs: number, work: () => Promise<T>): Promise<T> {
  let time = performance.now();
  return withMonotonicClock(() => (time += stepMs), work);
}

/** Counts the updates of the search index of campaigns for each commit. */
function countIndexUpdates(writer: Database): readonly number[] {
  const counts: number[] = [];
  let count = 0;
  const { run, exec } = { run: writer.run.bind(writer), exec: writer.exec.bind(writer) };
  writer.run = (sql, ...values) => {
    if (sql.startsWith('INSERT INTO "campaigns_searchText" (rowid')) count++;
    return run(sql, ...values);
  };
  writer.exec = (sql) => {
    exec(sql);
    if (sql !== 'COMMIT') return;
    counts.push(count);
    count = 0;
  };
  return counts;
}

/** Counts the commits of a connection. */
function countCommits(writer: Database): () => number {
  let count = 0;
  const exec = writer.exec.bind(writer);
  writer.exec = (sql) => {
    if (sql === 'COMMIT') count++;
    exec(sql);
  };
  return () => count;
}

const addCampaigns = (engine: StorageEngine, workspaceId: string, count: number) =>
  Promise.allSettled(Array.from({ length: count }, () => engine.campaigns.add(buildCampaign(workspaceId))));

const isFulfilled = ({ status }: PromiseSettledResult<unknown>) => status === 'fulfilled';

suite('a SQLite engine that writes', {
  'commits simultaneous writes together': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      const getCommitCount = countCommits(writer);
      const workspaceId = newId();
      await addCampaigns(engine, workspaceId, 100);
      assert.ok(getCommitCount() <= 25, `${getCommitCount()} commits`);
      assert.equal(await engine.campaigns.count(workspaceId, []), 100);
      const work = () => engine.runInTransaction(({ tags }) => tags.add(buildTag(newId(), 'one')));
      const before = getCommitCount();
      await Promise.all(Array.from({ length: 20 }, work));
      assert.ok(getCommitCount() - before <= 5, `${getCommitCount() - before} commits of 20 transactions`);
    }),
  ),

  'updates the search index at most once for each short commit group, before the commit': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      const updateCounts = countIndexUpdates(writer);
      const workspaceId = newId();
      const create = () => engine.runInTransaction(({ campaigns }) => campaigns.add(buildCampaign(workspaceId)));
      // The clock stands still, so each commit group is short.
      await withStepClock(0, () => Promise.all(Array.from({ length: 20 }, create)));
      assert.ok(updateCounts.length <= 5, `${updateCounts.length} commits of 20 campaigns`);
      assert.deepEqual(new Set(updateCounts), new Set([1]));
      await engine.tags.add(buildTag(workspaceId, 'one'));
      assert.equal(updateCounts.at(-1), 0);
    }),
  ),

  'indexes the texts that exist after all writes of a commit group': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      const workspaceId = newId();
      const campaigns: CampaignRecord[] = [];
      const build = () => buildCampaign(workspaceId, { searchText: `text ${Math.random()}` });
      const pick = () => campaigns[Math.floor(Math.random() * campaigns.length)]?.id ?? '';
      const change = async (target: StorageEngine) => {
        const campaign = build();
        await target.campaigns.add(campaign);
        if (Math.random() < 0.5) await target.campaigns.remove(workspaceId, pick());
        const { searchText } = build();
        const changed = await target.campaigns.update(workspaceId, pick(), (it) => ({ ...it, searchText }));
        const where = [{ field: 'searchText', contains: changed?.searchText ?? campaign.searchText }] as const;
        const found = await target.campaigns.list(workspaceId, {
          where,
          by: 'createdAt',
          order: 'asc',
          skip: 0,
          take: 2,
        });
        assert.deepEqual(found, [changed ?? campaign]);
        campaigns.push(campaign);
        // The last campaign has the greatest row number. After its removal, SQLite gives this number to the next row.
        if (Math.random() < 0.3) await target.campaigns.remove(workspaceId, campaign.id);
        if (Math.random() < 0.3) throw new Error('roll back');
      };
      for (let i = 0; i < quickOrLong(20, 200); i++) {
        const work = Array.from({ length: 1 + (i % 40) }, () => engine.runInTransaction(change));
        for (const outcome of await Promise.allSettled(work)) {
          if (outcome.status === 'rejected') assert.equal(outcome.reason.message, 'roll back');
        }
        assertIntact(writer);
      }
      assert.ok((await engine.campaigns.count(workspaceId, [])) > 0);
    }),
  ),

  'updates the search index during a long commit group, and keeps it correct if a later write of the group fails':
    withDatabasePath((file) =>
      withOpenEngine(file, async ({ engine, writer }) => {
        const workspaceId = newId();
        const updateCounts = countIndexUpdates(writer);
        const build = (i: number) => buildCampaign(workspaceId, { searchText: `text ${(i + 1) * 7919}` });
        const added = Array.from({ length: 40 }, (_, i) => build(i));
        const write = ({ campaigns }: StorageEngine, campaign: CampaignRecord, i: number) =>
          campaigns
            .add(campaign)
            .then(() => campaigns.update(workspaceId, added[i - 1]?.id ?? '', () => build(100 + i)))
            .then(() => (i % 4 === 3 ? Promise.reject(new Error('roll back')) : undefined));
        const outcomes = await withStepClock(0.5, () =>
          Promise.allSettled(added.map((it, i) => engine.runInTransaction((target) => write(target, it, i)))),
        );
        assert.ok(outcomes.some((it) => it.status === 'rejected'));
        assert.ok(Math.max(...updateCounts) > 1, `${updateCounts} updates of the index by commit`);
        assertIntact(writer);
      }),
    ),

  'commits the lock, the work and the response of a request with an idempotency key together': withDatabasePath(
    (file) =>
      withOpenEngine(file, async ({ engine, writer }) => {
        const getCommitCount = countCommits(writer);
        const app = new Application(createStorage(engine), createNodeSystem());
        const workspaceId = newId();
        const createTags = (key: string) =>
          app.runOnce({ workspaceId, keyId: 'key', idempotencyKey: key, fingerprint: 'x' }, (transaction) =>
            transaction.tags.create(workspaceId, { name: key }),
          );
        await createTags('first');
        assert.equal(getCommitCount(), 1);
        await Promise.all(Array.from({ length: 20 }, (_, i) => createTags(`tag ${i}`)));
        assert.ok(getCommitCount() <= 6, `${getCommitCount()} commits`);
        assert.equal(await engine.tags.count(workspaceId, []), 21);
      }),
  ),

  'stores neither a record with the option `isDeferred` nor the next write if their common commit fails':
    withDatabasePath((file) =>
      withOpenEngine(file, async ({ engine, writer }) => {
        const workspaceId = newId();
        const record = buildIdempotencyRecord(workspaceId);
        const work = async () => {
          await engine.idempotencyRecords.add(record, { isDeferred: true });
          await engine.runInTransaction(async ({ tags }) => {
            await tags.add(buildTag(workspaceId, 'one'));
            writer.exec('ROLLBACK');
          });
        };
        await assert.rejects(work());
        assert.equal(await engine.idempotencyRecords.get(workspaceId, record.id), undefined);
        assert.equal(await engine.tags.count(workspaceId, []), 0);
      }),
    ),

  'rejects only the writes of a commit group that fail, and commits the others': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, writer }) => {
      const getCommitCount = countCommits(writer);
      const workspaceId = newId();
      const [first, second] = [buildTag(workspaceId, 'same'), buildTag(workspaceId, 'same')];
      const write = () =>
        Promise.allSettled([
          engine.tags.add(first),
          engine.tags.add(second),
          engine.runInTransaction(async ({ tags }) => {
            await tags.remove(workspaceId, first.id);
            throw new Error('the work throws');
          }),
          engine.tags.add(buildTag(workspaceId, 'other')),
        ]);
      // The clock stands still, so a busy machine cannot end the commit group early.
      const [added, rejected, failed, last] = await withStepClock(0, write);
      assert.deepEqual([added, rejected, failed, last].map(isFulfilled), [true, false, false, true]);
      assert.ok(rejected.status === 'rejected' && rejected.reason instanceof CoreError);
      assert.equal(getCommitCount(), 1);
      assert.equal(await engine.tags.count(workspaceId, []), 2);
    }),
  ),

  'fails exactly the writes of the commit group if SQLite ends the transaction, even if the work catches the error':
    withDatabasePath((file) =>
      withOpenEngine(file, async ({ engine, writer }) => {
        const [one, two, three] = [buildTag(newId(), 'one'), buildTag(newId(), 'two'), buildGroup(newId(), 'three')];
        const outcomes = await Promise.allSettled([
          engine.tags.add(one),
          engine.runInTransaction(async ({ tags }) => {
            // SQLite does this after some errors, such as an error of the disk.
            writer.exec('ROLLBACK');
            await tags.add(two).catch(() => undefined);
          }),
          engine.groups.add(three),
        ]);
        assert.deepEqual(outcomes.map(isFulfilled), [false, false, true]);
        for (const { workspaceId, id } of [one, two]) assert.equal(await engine.tags.get(workspaceId, id), undefined);
        assert.deepEqual(await engine.groups.get(three.workspaceId, three.id), three);
      }),
    ),

  'fails all writes of a commit group that reads a damaged page, but no later write': withDatabasePath(async (file) => {
    const campaigns = Array.from({ length: 100 }, () => buildCampaign(newId()));
    await withOpenEngine(file, ({ engine }) => addAll(engine.campaigns, campaigns));
    const content = await damagePage(file, 'campaigns');
    const damaged = campaigns.find(({ id }) => content.includes(id)) as CampaignRecord;
    await withOpenEngine(file, async ({ engine }) => {
      const [one, two] = [buildTag(newId(), 'one'), buildTag(newId(), 'two')];
      const outcomes = await Promise.allSettled([
        engine.tags.add(one),
        engine.campaigns.update(damaged.workspaceId, damaged.id, (it) => ({ ...it, clicks: 1 })),
      ]);
      assert.deepEqual(outcomes.map(isFulfilled), [false, false]);
      assert.equal(await engine.tags.get(one.workspaceId, one.id), undefined);
      await engine.tags.add(two);
      assert.deepEqual(await engine.tags.get(two.workspaceId, two.id), two);
    });
  }),

  'rejects a write that waits ten seconds for another connection, and reads meanwhile': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const workspaceId = newId();
      const other = new Database(file, false, 'BEGIN IMMEDIATE');
      const startedAt = performance.now();
      const added = engine.tags.add(buildTag(workspaceId, 'one'));
      added.catch(() => undefined);
      let longestRead = 0;
      while (performance.now() - startedAt < 9_500) {
        const readAt = performance.now();
        await engine.tags.get(workspaceId, newId());
        longestRead = Math.max(longestRead, performance.now() - readAt);
        await delay(20);
      }
      await assert.rejects(added, (error) => !(error instanceof CoreError) && /Another process/.test(String(error)));
      const ms = performance.now() - startedAt;
      assert.ok(ms >= 10_000 && ms < 12_000, `${ms} ms`);
      assert.ok(longestRead < 500, `a read took ${longestRead} ms`);
      const late = engine.tags.add(buildTag(workspaceId, 'two'));
      await delay(100);
      other.exec('ROLLBACK');
      await late;
      await other.close();
    }),
  ),

  'lets each of two processes write, even if both write all the time': withDatabasePath(async (file) => {
    await withOpenEngine(file, async ({ engine }) => {
      const program = join(import.meta.dirname, 'writer-process.js');
      const other = spawn(process.execPath, [program, file, '32'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = once(other, 'close');
      let writtenCount = 0;
      other.stdout.on('data', (chunk) => (writtenCount += String(chunk).split('\n').length - 1));
      try {
        await waitUntil(() => writtenCount > 0);
        const durations: number[] = [];
        for (let i = 0; i < 30; i++) {
          const startedAt = performance.now();
          await engine.tags.add(buildTag(newId(), 'one'));
          durations.push(performance.now() - startedAt);
          await delay(Math.random() * 20);
        }
        const [median, longest] = [durations.sort((a, b) => a - b)[15] as number, durations.at(-1) as number];
        assert.ok(median < 500 && longest < 2_000, `median ${median} ms, longest ${longest} ms`);
        // This process writes all the time, too.
        const end = performance.now() + 2_000;
        const countBefore = writtenCount;
        await Promise.all(
          Array.from({ length: 32 }, async () => {
            while (performance.now() < end) await engine.campaigns.add(buildCampaign(newId()));
          }),
        );
        assert.ok(writtenCount - countBefore > 50, `the other process wrote ${writtenCount - countBefore} campaigns`);
      } finally {
        other.kill('SIGKILL');
        await closed;
      }
    });
  }),

  'shows at once what another engine has written': withDatabasePath((file) =>
    withOpenEngine(file, ({ engine: one }) =>
      withOpenEngine(file, async ({ engine: other }) => {
        const tag = buildTag(newId(), 'one');
        for (const [writer, reader] of [
          [one, other],
          [other, one],
        ] as const) {
          await writer.tags.add(tag);
          assert.deepEqual(await reader.tags.get(tag.workspaceId, tag.id), tag);
          await writer.tags.remove(tag.workspaceId, tag.id);
        }
      }),
    ),
  ),

  'rejects a write in a transaction that has ended': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      let staged: StorageEngine | undefined;
      await engine.runInTransaction(async (transaction) => {
        staged = transaction;
      });
      await assert.rejects(staged?.tags.add(buildTag(newId(), 'late')) as Promise<void>, /has ended/);
    }),
  ),

  'ends a transaction whose work waits for too long': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const tag = buildTag(newId(), 'one');
      const work = engine.runInTransaction(async (transaction) => {
        await transaction.tags.add(tag);
        await engine.tags.add(buildTag(newId(), 'waits for this transaction'));
      });
      await assert.rejects(work, /took longer/);
      assert.equal(await engine.tags.get(tag.workspaceId, tag.id), undefined);
      await engine.tags.add(tag);
    }),
  ),

  'deletes a few expired records with each later write': withDatabasePath((file) => {
    let now = Date.now();
    const work = async ({ engine: { idempotencyRecords: records }, reader }: OpenFile) => {
      const workspaceId = newId();
      for (let i = 0; i < 60; i++) await records.add(buildIdempotencyRecord(workspaceId, { expiresAt: now + 1_000 }));
      assert.equal(await records.count(workspaceId, []), 60);
      now += 1_100;
      const late = buildIdempotencyRecord(workspaceId, { expiresAt: 0 });
      await records.add(late);
      assert.deepEqual(await records.get(workspaceId, late.id), late);
      assert.equal(await records.count(workspaceId, []), 41);
      await records.update(workspaceId, late.id, (it) => ({ ...it, expiresAt: now + 10_000 }));
      await records.add(buildIdempotencyRecord(workspaceId));
      await records.add(buildIdempotencyRecord(workspaceId));
      assert.equal(await records.count(workspaceId, []), 3);
      const plan = reader.all(
        'EXPLAIN QUERY PLAN SELECT "row" FROM idempotencyRecords WHERE "expiresAt" <= 1 AND "id" <> 2 LIMIT 20',
      );
      assert.match(JSON.stringify(plan), /USING INDEX idempotencyRecords_expires/);
    };
    return withOpenEngine(file, work, () => now);
  }),

  'rejects a duplicate ID with a message that names the field': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine: { tags } }) => {
      const tag = buildTag(newId(), 'one');
      await tags.add(tag);
      await assertRejectsWithConflict(tags.add(buildTag(newId(), 'two', { id: tag.id })), [
        'A record with this ID already exists. Retry the request.',
      ]);
      await nextIteration();
    }),
  ),
});
