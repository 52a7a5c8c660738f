import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Database } from '../../adapters/sqlite/database.ts';
import { seedDatabase } from '../bench/sample.ts';
import { damagePage } from '../sqlite/damage-page.ts';
import { assertExitCode, CLI_PATH, parseJsonOutput, runOnDatabase, startCommand } from '../support/command-line.ts';
import { Ledger } from '../support/ledger.ts';
import { startLoad } from '../support/load.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { startProcess } from '../support/process.ts';
import { quickOrLong } from '../support/scale.ts';
import { type Environment, withApplication, withEngine } from '../support/storage.ts';
import { suite, type Test } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createTenant, createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readAllRecords } from './read-all-records.ts';

const WRITER_COUNT = quickOrLong(4, 8);
const BACKUP_COUNT = quickOrLong(1, 3);
const run = promisify(execFile);

interface Setup {
  readonly folder: string;
  readonly settings: Environment;
  /** Returns settings for another file in the folder. */
  settingsOf(name: string): Environment;
  backUp(file: string): ReturnType<typeof runOnDatabase>;
}

const withSetup =
  (test: (setup: Setup) => Promise<void>): Test =>
  () =>
    withTemporaryFolder((folder) => {
      const settingsOf = (name: string) => ({
        STORAGE: 'sqlite',
        SQLITE_FILE: join(folder, name),
        DEMO_WORKSPACE: 'false',
        DEMO_API_KEY: undefined as never,
      });
      const settings = settingsOf('advocacy.db');
      const backUp = (file: string) => runOnDatabase(['backup', file], settings);
      return test({ folder, settings, settingsOf, backUp });
    });

suite('a backup', {
  'has all records, and only its owner can read it': withSetup(async ({ folder, settings, settingsOf, backUp }) => {
    await withApplication(settings, (app) => createTenant({ app }, 'northwind'));
    const file = join(folder, 'backup.db');
    assert.deepEqual(await backUp(file), { code: 0, stdout: `The backup was written to ${file}.\n`, stderr: '' });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder).sort(), ['advocacy.db', 'backup.db']);
    const records = await withEngine(settings, readAllRecords);
    assert.deepEqual(await withEngine(settingsOf('backup.db'), readAllRecords), records);
    assert.deepEqual(parseJsonOutput(await runOnDatabase(['backup', `${file}2`, '--json'], settings)), {
      file: `${file}2`,
    });
  }),

  'is consistent while a server writes, and a server can use it': withSetup(
    async ({ folder, settings, settingsOf, backUp }) => {
      let service = await startProcess(settings);
      try {
        const { workspaceId, key } = await withApplication(settings, createWorkspace);
        const ledger = new Ledger(() => service.url, key);
        const load = startLoad(WRITER_COUNT, (client, i) => ledger.write(client, i));
        for (let i = 0; i < BACKUP_COUNT; i++) {
          await waitUntil(() => ledger.size > 50 * (i + 1));
          const { size } = ledger;
          assertExitCode(await backUp(join(folder, `backup-${i}.db`)), 0);
          const copy = new Database(join(folder, `backup-${i}.db`), true, '');
          assert.deepEqual(copy.all('PRAGMA integrity_check'), [['ok']]);
          await copy.close();
          const count = await withEngine(settingsOf(`backup-${i}.db`), ({ campaigns }) =>
            campaigns.count(workspaceId, []),
          );
          assert.ok(count >= size, `${count} of ${size} campaigns`);
        }
        await load.stop();
        assert.deepEqual(
          load.responses.map(({ status }) => status).filter((status) => status !== 201),
          [],
        );
        await ledger.assertStored(settings, workspaceId);
        await service.kill();
        service = await startProcess(settingsOf('backup-0.db'));
        const { status } = await fetch(`${service.url}/campaigns`, { headers: { Authorization: `Bearer ${key}` } });
        assert.equal(status, 200);
      } finally {
        await service.kill();
      }
    },
  ),

  'rejects an existing file, a missing folder and a missing database': withSetup(
    async ({ folder, settings, backUp }) => {
      const file = join(folder, 'backup.db');
      const empty = await backUp(file);
      assertExitCode(empty, 2);
      assert.equal(existsSync(file), false);
      assert.match(empty.stderr, /^error: SQLITE_FILE: this database does not exist\. /);
      assert.deepEqual(readdirSync(folder), []);
      await withApplication(settings, createWorkspace);
      writeFileSync(file, 'mine');
      const problems = {
        [file]: 'the file already exists',
        [String(settings.SQLITE_FILE)]: 'the file already exists',
        [folder]: 'the file already exists',
        [join(folder, 'new', 'backup.db')]: 'no such file or folder',
      };
      for (const [path, problem] of Object.entries(problems)) {
        assert.deepEqual(await backUp(path), {
          code: 2,
          stdout: '',
          stderr: `error: Cannot write ${path}: ${problem}.\n`,
        });
      }
      assert.equal(readFileSync(file, 'utf8'), 'mine');
      assert.deepEqual(readdirSync(folder).sort(), ['advocacy.db', 'backup.db']);
    },
  ),

  'appears only when it is complete, also if the disk is full, the command is killed, or two commands write the same file':
    withSetup(async ({ folder, settings, backUp }) => {
      await seedDatabase(settings, 2_000);
      const file = join(folder, 'backup.db');
      // `ulimit -f` limits the size of a file (in KiB). The limit causes an error, as a full disk does.
      const limited = await run(
        'bash',
        ['-c', 'ulimit -f 1000; exec "$@"', '', process.execPath, CLI_PATH, 'backup', file],
        {
          env: { ...process.env, ...settings },
        },
      ).catch((error: { readonly code: number; readonly stderr: string }) => error);
      assert.equal('code' in limited && limited.code, 2);
      assert.match(limited.stderr, /^error: Cannot write \S+backup\.db: [^\n]+\.\n$/);
      assert.deepEqual(readdirSync(folder), ['advocacy.db']);

      const { child, output } = startCommand(['backup', file], settings);
      while (!existsSync(`${file}.incomplete`)) await nextIteration();
      child.kill('SIGKILL');
      await output;
      assert.ok(!existsSync(file), 'the command was killed too late');
      const incomplete = `${file}.incomplete`;
      const problem = `${incomplete} exists. Another backup is running or was killed. If none is running, remove it`;
      assert.deepEqual(await backUp(file), {
        code: 2,
        stdout: '',
        stderr: `error: Cannot write ${file}: ${problem}.\n`,
      });
      rmSync(incomplete);

      const first = startCommand(['backup', file], settings);
      while (!existsSync(incomplete)) await nextIteration();
      // The pause keeps the first command from ending before the second command begins.
      first.child.kill('SIGSTOP');
      const second = await backUp(file);
      first.child.kill('SIGCONT');
      assertExitCode(await first.output, 0);
      assertExitCode(second, 2);
      const copy = new Database(file, true, '');
      assert.deepEqual(copy.all('PRAGMA integrity_check'), [['ok']]);
      await copy.close();
      assert.deepEqual(readdirSync(folder).sort(), ['advocacy.db', 'backup.db']);
    }),

  'fails and leaves no file if a part of the database is damaged, also a part that SQLite copies without an error':
    withSetup(async ({ folder, settings, settingsOf, backUp }) => {
      await seedDatabase(settings, 100);
      assertExitCode(await backUp(join(folder, 'intact.db')), 0);
      const problems = {
        4096: 'database disk image is malformed',
        2048: 'the copy is damaged, and the database may be, too',
        512: 'the copy is damaged, and the database may be, too',
      };
      for (const [byteCount, problem] of Object.entries(problems)) {
        const damaged = join(folder, 'damaged.db');
        copyFileSync(join(folder, 'intact.db'), damaged);
        await damagePage(damaged, 'campaigns', Number(byteCount));
        const file = join(folder, 'backup.db');
        assert.deepEqual(await runOnDatabase(['backup', file], settingsOf('damaged.db')), {
          code: 2,
          stdout: '',
          stderr: `error: Cannot write ${file}: ${problem}.\n`,
        });
        assert.deepEqual(readdirSync(folder).sort(), ['advocacy.db', 'damaged.db', 'intact.db']);
      }
    }),

  'is only for SQLite: with MongoDB, the command refers to mongodump': async () => {
    const { uri, stop } = await createDatabase();
    try {
      assert.deepEqual(await runOnDatabase(['backup', 'never-written.db'], createMongodbSettings(uri)), {
        code: 2,
        stdout: '',
        stderr: 'error: backup: not supported with STORAGE=mongodb. Use mongodump.\n',
      });
    } finally {
      await stop();
    }
  },
});
