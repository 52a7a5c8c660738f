import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Database } from '../../adapters/sqlite/database.ts';
import { CLI_PATH } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import {
  MAIN_PATH,
  type ServiceProcess,
  startProcess,
  UNSET,
  waitForService,
  withProcess,
} from '../support/process.ts';
import { request } from '../support/request.ts';
import { getStartErrors } from '../support/start-errors.ts';
import { suite, type Test } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

/** Returns the settings of a server that keeps its records in a file. */
const createSettings = (file: string) => ({ STORAGE: UNSET, SQLITE_FILE: file, DEMO_API_KEY: UNSET });

const withFile =
  (test: (file: string) => Promise<void>): Test =>
  () =>
    withTemporaryFolder((folder) => test(join(folder, 'new', 'advocacy.db')));

async function stop({ child, waitForExit }: ServiceProcess): Promise<void> {
  child.kill('SIGTERM');
  assert.equal(await waitForExit(), 0);
}

const readDemoKey = ({ output }: ServiceProcess) => /^Demo API key: (.*)$/m.exec(output.stdout)?.[1];

/** Returns the command that a server printed below a line. */
const readCommand = ({ output }: ServiceProcess, line: string) =>
  output.stdout.split(`\n${line}:\n  `)[1]?.split('\n')[0] ?? '';

/** Runs a command that a server printed, with the command line of this build in place of `npx advocacy`. */
async function runCommand(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', command.replace('npx advocacy', `"${process.execPath}" "${CLI_PATH}"`)]);
  return stdout;
}

suite('a start with a SQLite file', {
  'creates the demo workspace, prints its key only once, and keeps records over a restart and a crash': withFile(
    async (file) => {
      const services: ServiceProcess[] = [];
      const start = async () => {
        const service = await startProcess(createSettings(file));
        services.push(service);
        return service;
      };
      const createTag = ({ url }: ServiceProcess, key: string, name: string) =>
        request(`${url}/tags`, 'POST', { key, body: { name } }).then(({ status }) => status);
      try {
        const first = await start();
        const key = readDemoKey(first) as string;
        assert.deepEqual(first.output.stdout.split('\n\n').slice(1), [
          `The data is in ${file}`,
          `Demo API key: ${key}\nStore this key now, because it is shown only once.`,
          `Try:\n  curl -H 'Authorization: Bearer ${key}' ${first.url}/campaigns`,
          `Enter the key at ${first.url}/dashboard to see figures, or at ${first.url}/docs to try each operation.`,
          '',
        ]);
        assert.equal((await request(`${first.url}/campaigns`, 'GET', { key })).json.length, 7);
        assert.equal(statSync(file).mode & 0o777, 0o600);
        assert.equal(await createTag(first, key, 'Kept over a restart'), 201);
        await stop(first);
        assert.deepEqual(readdirSync(resolve(file, '..')), ['advocacy.db']);
        const second = await start();
        assert.ok(!second.output.stdout.includes('adv_'));
        assert.equal(await createTag(second, key, 'Kept over a crash'), 201);
        await second.kill();
        const third = await start();
        const command = readCommand(third, 'Create another API key');
        assert.match(command, new RegExp(`^SQLITE_FILE=${file} npx advocacy key create --workspace [0-9a-f-]{36}$`));
        const newKey = /adv_\w+/.exec(await runCommand(command))?.[0] as string;
        for (const name of ['Kept over a restart', 'Kept over a crash']) {
          // Names are unique, so a conflict (409) shows that the tag is stored.
          assert.equal(await createTag(third, newKey, name), 409);
        }
      } finally {
        await Promise.all(services.map((service) => service.kill()));
      }
    },
  ),

  'prints a command that creates a workspace and a key if the file has no workspace': withFile(async (base) => {
    const file = join(resolve(base, '..'), "Ada's data.db");
    await withProcess({ ...createSettings(file), DEMO_WORKSPACE: 'false' }, async (service) => {
      assert.equal(readDemoKey(service), undefined);
      const command = readCommand(service, 'Create a workspace and its first API key');
      assert.match(await runCommand(command), /^id +\S+\nname +NAME\ncreatedAt .*\nkey +adv_\w{38}\n/);
    });
  }),

  'uses a file in the working directory by default, and treats names that are special to SQLite as file names': () =>
    withTemporaryFolder(async (cwd) => {
      for (const [SQLITE_FILE, file] of [
        [UNSET, 'data/advocacy.db'],
        [':memory:', ':memory:'],
      ] as const) {
        const env = { ...process.env, PORT: '0', SQLITE_FILE };
        const service = await waitForService(spawn(process.execPath, [MAIN_PATH], { cwd, env }));
        await stop(service);
        assert.ok(service.output.stdout.includes(`The data is in ${join(cwd, file)}\n`), service.output.stdout);
        assert.ok(statSync(join(cwd, file)).size > 100_000);
      }
    }),

  'does not create the demo workspace if the port is in use': withFile(async (file) => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    try {
      const PORT = String((occupied.address() as AddressInfo).port);
      assert.match(String(await getStartErrors({ SQLITE_FILE: file, PORT })), /the port is in use/);
    } finally {
      occupied.close();
    }
    await withProcess(createSettings(file), async (service) => assert.ok(readDemoKey(service)));
  }),

  'fails with one line if it cannot use the file': withFile(async (file) => {
    const folder = resolve(file, '..');
    mkdirSync(folder);
    const path = (name: string) => join(folder, name);
    writeFileSync(path('text'), 'name,color\n'.repeat(1000));
    for (const name of ['newer', 'locked']) writeFileSync(path(name), '');
    const newer = new Database(path('newer'), false, 'PRAGMA application_id = 0x57416476; PRAGMA user_version = 99');
    const locked = new Database(path('locked'), false, 'BEGIN EXCLUSIVE');
    await newer.close();
    try {
      const problems = {
        '.': `${folder} is a folder. Choose a file in it.`,
        text: `${path('text')} is not a SQLite database, or it is damaged. Restore a backup, or choose another file.`,
        newer: `${path('newer')} was written by a newer version of this service. Run that version, or choose another file.`,
        locked: `${path('locked')} is used by another process. Stop that process, or try again later.`,
        'text/a.db': /^\S+ cannot be opened \(.*\)\. Check the path, the permissions and the free space\.$/,
      };
      await each(problems, async (problem, name) => {
        const [text = '', ...others] = await getStartErrors({ SQLITE_FILE: path(name) });
        assert.deepEqual(others, []);
        const line = /^SQLITE_FILE: (.*)$/.exec(text)?.[1] as string;
        if (typeof problem === 'string') assert.equal(line, problem);
        else assert.match(line, problem);
      });
    } finally {
      await locked.close();
    }
  }),
});
