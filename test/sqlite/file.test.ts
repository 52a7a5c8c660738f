import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { Database, isBusy } from '../../adapters/sqlite/database.ts';
import { createSqliteEngine, UnusableFile } from '../../adapters/sqlite/engine.ts';
import { listStatements, tables } from '../../adapters/sqlite/layout.ts';
import type { Share } from '../../core/share/share.ts';
import { buildCampaign, buildTag, newId, samples } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';
import { assertIntact, removeSearchIndexes, withDatabasePath, withOpenEngine } from './database-file.ts';

const open = (file: string) => withOpenEngine(file, async () => undefined);

async function assertUnusable(file: string, problem: RegExp): Promise<void> {
  await assert.rejects(open(file), (error) => {
    assert.ok(error instanceof UnusableFile, String(error));
    assert.match(error.message, problem);
    assert.ok(error.message.startsWith(file), error.message);
    assert.ok(!error.message.includes('\n'));
    return true;
  });
}

/** Runs statements on a file without the engine. */
async function runOn(file: string, sql: string): Promise<void> {
  const database = new Database(file, false, sql);
  await database.close();
}

suite('a SQLite engine', {
  'recognizes that another connection uses the file exclusively, with each method that reads': withDatabasePath(
    async (file) => {
      await runOn(file, 'CREATE TABLE numbers (value)');
      const reader = new Database(file, true, '');
      const sql = 'SELECT count(*) FROM numbers';
      // The statement is prepared before the lock, so that the lock is found when the statement runs.
      reader.all(sql);
      const other = new Database(file, false, 'BEGIN EXCLUSIVE');
      const methods = [
        () => reader.all(sql),
        () => [...reader.iterate(sql)],
        () => reader.run(sql),
        () => reader.exec(sql),
      ];
      for (const method of methods) assert.throws(method, isBusy, String(method));
      await other.close();
      assert.deepEqual(reader.all(sql), [[0]]);
      await reader.close();
    },
  ),

  'creates the folder, and files that only the owner can read, and leaves only the database file when closed':
    withDatabasePath(async (base) => {
      const file = join(dirname(base), 'new', 'folder', 'a.db');
      await withOpenEngine(file, async ({ engine }) => {
        await engine.tags.add(buildTag(newId(), 'one'));
        for (const name of readdirSync(dirname(file))) {
          assert.equal(statSync(join(dirname(file), name)).mode & 0o777, 0o600, name);
        }
        assert.equal(readdirSync(dirname(file)).length, 3);
      });
      assert.deepEqual(readdirSync(dirname(file)), ['a.db']);
      const openFiles = readdirSync('/proc/self/fd').map((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          return '';
        }
      });
      assert.deepEqual(
        openFiles.filter((path) => path.startsWith(file)),
        [],
      );
    }),

  'syncs the folders that have new entries, and ignores file systems that cannot sync folders': withDatabasePath(
    async (base) => {
      const parent = dirname(base);
      const synced: string[] = [];
      const { fsyncSync } = fs;
      const replaceSync = (replacement: typeof fsyncSync) => {
        Object.assign(fs, { fsyncSync: replacement });
        syncBuiltinESMExports();
      };
      replaceSync((descriptor) => {
        synced.push(readlinkSync(`/proc/self/fd/${descriptor}`));
        throw new Error('EINVAL: invalid argument, fsync');
      });
      try {
        await open(join(parent, 'new', 'folder', 'a.db'));
        await open(join(parent, 'new', 'folder', 'b.db'));
      } finally {
        replaceSync(fsyncSync);
      }
      assert.deepEqual(synced, [parent, join(parent, 'new')]);
    },
  ),

  'creates the missing target of a symbolic link as a file that only the owner can read': withDatabasePath(
    async (file) => {
      symlinkSync('elsewhere.db', file);
      await open(file);
      assert.equal(statSync(join(dirname(file), 'elsewhere.db')).mode & 0o777, 0o600);
    },
  ),

  'writes nothing when it opens a file of the current version': withDatabasePath(async (file) => {
    await open(file);
    await withOpenEngine(file, async ({ writer }) => assert.deepEqual(writer.all('SELECT total_changes()'), [[0]]));
  }),

  'rejects every call before it is opened and after it is closed': withDatabasePath(async (file) => {
    const { engine, connection } = createSqliteEngine(file);
    const calls = () => [
      engine.tags.get('', ''),
      engine.tags.add(buildTag('', '')),
      engine.tags.list('', { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 }),
      engine.runInTransaction(async () => undefined),
      engine.checkReady(),
    ];
    for (const call of calls()) await assert.rejects(call, /not open/);
    await connection.open();
    await connection.close();
    for (const call of calls()) await assert.rejects(call, /not open/);
    await connection.close();
  }),

  'completes the writes that started before it is closed': withDatabasePath(async (file) => {
    const { engine, connection } = createSqliteEngine(file);
    await connection.open();
    const tag = buildTag(newId(), 'last');
    const added = engine.tags.add(tag);
    await connection.close();
    await added;
    await withOpenEngine(file, async ({ engine: again }) => assert.ok(await again.tags.get(tag.workspaceId, tag.id)));
  }),

  'rejects a damaged database': withDatabasePath(async (file) => {
    await open(file);
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length - 100, 7)]));
    await assertUnusable(file, /damaged/);
  }),

  'rejects the database of another program, and does not change it': withDatabasePath(async (file) => {
    for (const sql of ['CREATE TABLE note (text)', 'PRAGMA application_id = 7']) {
      writeFileSync(file, '');
      await runOn(file, sql);
      const bytes = readFileSync(file);
      await assertUnusable(file, /another program/);
      assert.deepEqual(readFileSync(file), bytes);
    }
  }),

  'rejects writes, and is not ready, after a newer version has upgraded the open file': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, reader }) => {
      const kept = buildTag(newId(), 'kept');
      const rejected = buildTag(newId(), 'rejected');
      await engine.tags.add(kept);
      const version = reader.all('PRAGMA user_version')[0]?.[0];
      await runOn(file, 'PRAGMA user_version = 99');
      const upgraded = /newer version .* upgraded .* start the newer version/;
      await assert.rejects(engine.tags.add(rejected), upgraded);
      await assert.rejects(
        engine.runInTransaction(({ tags }) => tags.add(rejected)),
        upgraded,
      );
      await assert.rejects(engine.checkReady(), upgraded);
      assert.deepEqual(await engine.tags.get(kept.workspaceId, kept.id), kept);
      assert.equal(await engine.tags.get(rejected.workspaceId, rejected.id), undefined);
      // This fails if a rejected write has left the file locked.
      await runOn(file, `PRAGMA user_version = ${version}`);
      await engine.tags.add(rejected);
      await engine.checkReady();
    }),
  ),

  'rejects a file or a folder without permission': withDatabasePath(async (file) => {
    await open(file);
    const program = `
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
      const { createSqliteEngine } = await import(${JSON.stringify(import.meta.resolve('../../adapters/sqlite/engine.js'))});
      await createSqliteEngine(process.argv[1]).connection.open().then(
        () => console.log('opened'),
        (error) => console.log(error.message),
      );`;
    const tryToOpen = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', program, file], { encoding: 'utf8' }).stdout.trim();
    chmodSync(dirname(file), 0o777);
    chmodSync(file, 0o444);
    assert.match(tryToOpen(), /cannot be opened .*permission/);
    chmodSync(file, 0o000);
    assert.match(tryToOpen(), /cannot be opened .*permission/);
    chmodSync(file, 0o666);
    chmodSync(dirname(file), 0o555);
    assert.match(tryToOpen(), /cannot be opened .*permission/);
    chmodSync(dirname(file), 0o777);
    assert.equal(tryToOpen(), 'opened');
  }),

  'can open a new file at the same time as other engines': withDatabasePath(async (file) => {
    await Promise.all(Array.from({ length: 5 }, () => open(file)));
    await withOpenEngine(file, ({ engine }) => engine.checkReady());
  }),

  'rejects writes, and is not ready, while the file, its log or the index of the log is missing or replaced':
    withDatabasePath(async (file) => {
      const suffixes = ['', '-wal', '-shm'];
      const link = `${file}.link`;
      symlinkSync(file, link);
      for (const [path, moved, replaced] of [
        [file, suffixes, []],
        [file, [''], ['']],
        [file, ['-wal'], ['-wal']],
        [link, ['-wal'], []],
        [file, ['-shm'], ['-shm']],
      ] as const) {
        await withOpenEngine(path, async ({ engine }) => {
          const add = () => engine.tags.add(buildTag(newId(), 'one'));
          let time = performance.now();
          await withMonotonicClock(
            () => time,
            async () => {
              await add();
              await engine.checkReady();
              for (const suffix of moved) renameSync(file + suffix, `${file}.moved${suffix}`);
              for (const suffix of replaced) copyFileSync(`${file}.moved${suffix}`, file + suffix);
              time += 1_001;
              for (const attempt of [add, add, () => engine.runInTransaction(add), () => engine.checkReady()]) {
                await assert.rejects(attempt, /was replaced|no such file/);
              }
              for (const suffix of moved) renameSync(`${file}.moved${suffix}`, file + suffix);
              await add();
              await engine.checkReady();
            },
          );
        });
      }
      assert.ok(existsSync(file));
    }),

  'upgrades a file: adds columns, indexes and search indexes, and fills them': withDatabasePath(async (file) => {
    const workspaceId = newId();
    const fields = { tagIds: ['red', 'blue', 'red'], searchText: 'derived', archived: false };
    const campaign = buildCampaign(workspaceId, fields);
    await withOpenEngine(file, async ({ engine, writer }) => {
      await engine.campaigns.add(campaign);
      const before = readParts(writer);
      for (const event of ['insert', 'update', 'delete'])
        writer.exec(`DROP TRIGGER campaigns_tagIds_createdAt_${event}`);
      writer.exec(`DROP TABLE campaigns_searchText; DROP TABLE campaigns_tagIds_createdAt; DROP INDEX campaigns_archived_createdAt;
        DROP INDEX campaigns_archived_updatedAt; DROP INDEX campaigns_archived_startsAt; DROP INDEX campaigns_updatedAt;
        ALTER TABLE campaigns DROP COLUMN archived; ALTER TABLE campaigns DROP COLUMN searchText;
        UPDATE campaigns SET record = jsonb_remove(record, '$.archived', '$.searchText');
        CREATE INDEX campaigns_old ON campaigns (endsAt); PRAGMA user_version = 0`);
      assert.notDeepEqual(readParts(writer), before);
    });
    await withOpenEngine(file, async ({ engine, writer }) => {
      assert.ok(!readParts(writer).some(([name]) => name === 'campaigns_old'));
      const find = (condition: object) =>
        engine.campaigns.list(workspaceId, {
          where: [{ field: 'archived', in: [false] }, condition as never],
          by: 'createdAt',
          order: 'desc',
          skip: 0,
          take: 9,
        });
      assert.equal((await find({ field: 'tagIds', in: ['red'] })).length, 1);
      const [found] = await find({ field: 'searchText', contains: 'tents & more' });
      assert.equal(found?.id, campaign.id);
      assert.equal(found?.searchText.includes('tents'), true);
    });
    await withOpenEngine(file, async ({ writer }) => assert.deepEqual(writer.all('SELECT total_changes()'), [[0]]));
  }),

  'upgrades a file, even if an earlier upgrade was interrupted at any statement': withDatabasePath(async (file) => {
    const workspaceId = newId();
    const campaigns = Array.from({ length: 20 }, (_, i) => buildCampaign(workspaceId, { name: `text ${i}` }));
    const find = (engine: StorageEngine, contains: string) =>
      engine.campaigns.count(workspaceId, [{ field: 'searchText', contains }]);
    await withOpenEngine(file, async ({ engine, writer }) => {
      await addAll(engine.campaigns, campaigns);
      removeSearchIndexes(writer);
    });
    const { exec } = Database.prototype;
    for (let allowedCount = 0, isUpgraded = false; !isUpgraded; allowedCount += 3) {
      const copy = `${file}.${allowedCount}`;
      copyFileSync(file, copy);
      let count = 0;
      Database.prototype.exec = function (sql) {
        if (/^(?:CREATE|DROP)|user_version/.test(sql) && ++count > allowedCount) throw new Error('interrupted');
        exec.call(this, sql);
      };
      try {
        isUpgraded = await withOpenEngine(copy, async () => true).catch(() => false);
      } finally {
        Database.prototype.exec = exec;
      }
      await withOpenEngine(copy, async ({ engine, writer }) => {
        assertIntact(writer);
        assert.equal(await find(engine, 'text 7'), 1);
        await engine.campaigns.update(workspaceId, campaigns[7]?.id ?? '', (it) => ({ ...it, searchText: 'new' }));
        assert.deepEqual([await find(engine, 'text 7'), await find(engine, 'new')], [0, 1]);
        assertIntact(writer);
      });
    }
  }),

  'omits a field that an older record lacks, instead of returning null': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      // A made-up change of the schema: earlier versions had no field `position`.
      Object.assign(tables.get('shares')?.schema.defaults ?? {}, { position: 0 });
      const { position: _, ...older } = samples.shares(newId()) as Share;
      await engine.shares.add(older as Share);
      const [found] = await engine.shares.getMany(older.workspaceId, [older.id], ['campaignId', 'position']);
      assert.notEqual(found?.position, null);
      assert.equal(found?.campaignId, older.campaignId);
    }),
  ),

  'has a layout of the file that changes only with `FILE_VERSION`': () => {
    const statements = [...tables.values()].flatMap(listStatements);
    const hash = createHash('sha256').update(JSON.stringify(statements)).digest('hex').slice(0, 16);
    // If this fails, increment FILE_VERSION in adapters/sqlite/file.ts, and then change the hash.
    assert.equal(hash, 'a6ffd9aa5585586c');
  },
});

function readParts(database: Database): unknown[][] {
  return database.all('SELECT name, sql FROM sqlite_schema ORDER BY name');
}
