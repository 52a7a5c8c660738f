import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { databaseExists } from '../../adapters/mongodb/database-exists.ts';
import {
  assertExitCode,
  type CommandOutput,
  parseJsonOutput,
  runOnDatabase,
  runProcess,
  startCommand,
} from '../support/command-line.ts';
import { each, textCases } from '../support/each.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withApplication, withDurableStorage } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');

/** Runs a command line in this process on the database of the test. */
type RunAdvocacy = (line: string) => Promise<CommandOutput>;

/** A database with one workspace. */
interface TestDatabase {
  readonly runAdvocacy: RunAdvocacy;
  readonly env: Readonly<Record<string, string>>;
  readonly company: Tenant;
}

function withCompany(test: (database: TestDatabase) => Promise<void>): Promise<void> {
  return withDurableStorage(async (env) => {
    const company = await withApplication(env, (app) => createTenant({ app }, 'northwind'));
    await test({ runAdvocacy: (line) => runOnDatabase(line.split(' '), env), env, company });
  });
}

suite('the command line, as a process', {
  'is found by npx in a checkout': () =>
    withTemporaryFolder(async (cache) => {
      const env = { ...process.env, npm_config_cache: cache };
      const { stdout } = await run('npx', ['--offline', 'advocacy', 'key', 'create', '--help'], { cwd: ROOT, env });
      assert.match(stdout, /^Usage: advocacy key create /);
    }),

  'exits with 2 and a hint for memory storage, invalid settings, or an unavailable database': () =>
    withCompany(async ({ env }) => {
      const unreachableUri = 'mongodb://ada:s3cret@127.0.0.1:9/x';
      const cases: readonly (readonly [line: string, env: Readonly<Record<string, string>>, RegExp])[] = [
        [
          'workspace list',
          { STORAGE: 'memory' },
          /^error: STORAGE: must be sqlite or mongodb for this command\. With STORAGE=memory, /,
        ],
        [
          'workspace list',
          { STORAGE: 'mongo', PORT: 'x' },
          /^error: PORT: must be .*\nerror: STORAGE: must be one of /,
        ],
        [
          'workspace list',
          { SQLITE_FILE: tmpdir() },
          /^error: SQLITE_FILE: \S+ is a folder\. Choose a file in it\.\n$/,
        ],
        [
          'workspace list',
          { STORAGE: 'mongodb', MONGODB_URI: unreachableUri },
          /\nerror: MongoDB is unavailable\. Check that it is running and that MONGODB_URI is correct\.\n$/,
        ],
        [
          `copy --to ${unreachableUri}`,
          env,
          /^MongoDB is unavailable: .* Check that it runs and that --to is correct\. Retrying\.\nerror: MongoDB is unavailable\. Check that it is running and that --to is correct\.\n$/,
        ],
      ];
      await Promise.all(
        cases.map(async ([line, settings, message]) => {
          const output = await runOnDatabase([...line.split(' '), '--json'], settings);
          assertExitCode(output, 2);
          assert.equal(output.stdout, '');
          assert.match(output.stderr, message);
          assert.doesNotMatch(output.stderr, /s3cret|\n {4}at /);
        }),
      );
    }),

  'does not create a database, except by `workspace create`: exits with 2 and names the setting': () =>
    withTemporaryFolder((folder) =>
      withDatabase(async (uri) => {
        const file = join(folder, 'new', 'advocacy.db');
        const lines = [
          'workspace list',
          'tag list --workspace W',
          'key create --workspace W',
          'import --workspace W tags - --dry-run',
          `backup ${folder}/backup.db`,
          `copy --to sqlite:${folder}/copy.db`,
        ];
        const settings = { SQLITE_FILE: { SQLITE_FILE: file }, MONGODB_URI: createMongodbSettings(uri) };
        await each(settings, (env, name) =>
          each(textCases(...lines), async (line) => {
            const output = await runOnDatabase(line.split(' '), env);
            assertExitCode(output, 2);
            const isUnsupported = line.startsWith('backup') && name === 'MONGODB_URI';
            const message = isUnsupported ? /Use mongodump/ : `^error: ${name}: this database does not exist\\.`;
            assert.match(output.stderr, new RegExp(message));
            assert.equal(await databaseExists(uri), false);
            assert.deepEqual(readdirSync(folder), []);
          }),
        );
        for (const env of Object.values(settings)) {
          assertExitCode(await runOnDatabase(['workspace', 'create', '--name', 'Northwind'], env), 0);
          assertExitCode(await runOnDatabase(['workspace', 'list'], env), 0);
        }
      }),
    ),

  'logs a write on standard error, from the level info on: JSON, or a short line on a terminal': () =>
    withCompany(async ({ env, company: { workspaceId, admin } }) => {
      const run = async (settings: Readonly<Record<string, string>>, name: string, stderr = {}) => {
        const args = ['tag', 'create', '--name', name, '--as', admin.email, '--json'];
        const output = await runOnDatabase(args, { ...env, ...settings }, { stderr });
        return { recordId: parseJsonOutput(output).id, line: output.stderr };
      };
      const { recordId, line } = await run({}, 'One');
      const { level, msg, time, ...rest } = JSON.parse(line);
      assert.deepEqual([level, msg, typeof time], [30, 'command completed', 'number']);
      const { command, workspaceId: w, memberId, recordId: logged } = rest;
      assert.deepEqual([command, w, memberId, logged], ['tag create', workspaceId, admin.id, recordId]);
      assert.equal((await run({ LOG_LEVEL: 'warn' }, 'Two')).line, '');
      const onTerminal = await run({}, 'Three', { isTTY: true });
      assert.equal(onTerminal.line, `INFO: tag create ${onTerminal.recordId}\n`);
      assert.equal((await runOnDatabase(['tag', 'list'], env)).stderr, '');
    }),

  'serves with memory storage until SIGTERM, and exits with 2 for an invalid setting': async () => {
    const server = startCommand(['serve'], { STORAGE: 'memory', PORT: '0' });
    const url = await server.waitForOutput(/listens on (http:[^\s"]+)/);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    server.child.kill('SIGTERM');
    assertExitCode(await server.output, 0);
    const output = await runProcess(['serve'], { PORT: 'x' });
    assertExitCode(output, 2);
    assert.equal(output.stdout, '');
    assert.match(output.stderr, /^error: PORT: must be a whole number/);
  },

  'changes the responses of a running server within five seconds': () =>
    withCompany(async ({ runAdvocacy, env, company: { workspaceId: w } }) => {
      const runJson = async (line: string) => parseJsonOutput(await runAdvocacy(`${line} --workspace ${w} --json`));
      const kim = await runJson('member create --name Kim --email kim@x.example');
      const { id, key } = await runJson(`key create --member-id ${kim.id}`);
      const server = startCommand(['serve'], { ...env, PORT: '0' });
      try {
        const url = await server.waitForOutput(/listens on (http:[^\s"]+)/);
        const getStatus = async () =>
          (await fetch(`${url}/campaigns`, { headers: { Authorization: `Bearer ${key}` } })).status;
        assert.equal(await getStatus(), 403);
        for (const [line, status] of [
          [`member update --workspace ${w} ${kim.id} --invitation expired`, 410],
          [`member update --workspace ${w} ${kim.id} --invitation accepted`, 200],
          [`key delete --workspace ${w} ${id}`, 401],
        ] as const) {
          assertExitCode(await runAdvocacy(line), 0);
          const startedAt = Date.now();
          await waitUntil(async () => (await getStatus()) === status);
          assert.ok(Date.now() - startedAt < 5_000, `the status is not ${status} after five seconds`);
        }
      } finally {
        server.child.kill('SIGTERM');
      }
      assertExitCode(await server.output, 0);
    }),
});
