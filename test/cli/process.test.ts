import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { answerOf, CLI, type Ran, runProcess, startCommand } from '../support/command-line.ts';
import { mongod } from '../support/mongod.ts';
import { withUseCases } from '../support/mongodb-service.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');

/** Runs command lines as processes over a database of their own. */
type Advocacy = (line: string, stdin?: string) => Promise<Ran>;

/** A database with one company in it. */
interface Place {
  readonly advocacy: Advocacy;
  readonly env: Readonly<Record<string, string>>;
  readonly company: Tenant;
}

async function onDatabase(test: (place: Place) => Promise<void>): Promise<void> {
  const { uri, stop } = await mongod();
  const env = { STORAGE: 'mongodb', MONGODB_URI: uri };
  try {
    const company = await withUseCases(uri, (app) => createTenant({ app }, 'northwind'));
    await test({ advocacy: (line, stdin) => runProcess(line.split(' '), env, stdin), env, company });
  } finally {
    await stop();
  }
}

suite('the command line, as a process', {
  'is what npx finds in a checkout': async () => {
    const cache = mkdtempSync(join(tmpdir(), 'npx-'));
    try {
      const env = { ...process.env, npm_config_cache: cache };
      const { stdout } = await run('npx', ['--offline', 'advocacy', 'key', 'create', '--help'], { cwd: ROOT, env });
      assert.match(stdout, /^Usage: advocacy key create /);
    } finally {
      rmSync(cache, { recursive: true });
    }
  },

  'ends with 2 and says what to do, where it has nothing to act on, wrong settings, or no database': async () => {
    const away = 'mongodb://ada:s3cret@127.0.0.1:9/x';
    const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{}, /^error: With STORAGE=memory there is nothing to act on.*\nerror: Set STORAGE=mongodb, and MONGODB_URI/],
      [{ STORAGE: 'mongo', PORT: 'x' }, /^error: PORT: must be .*\nerror: STORAGE: must be one of memory, mongodb\n$/],
      [{ STORAGE: 'mongodb', MONGODB_URI: away }, /\nerror: MongoDB cannot be reached: see that it runs, and that MO/],
    ];
    await Promise.all(
      cases.map(async ([env, says]) => {
        const { code, stdout, stderr } = await runProcess(['workspace', 'list', '--json'], env);
        assert.deepEqual([code, stdout], [2, '']);
        assert.match(stderr, says);
        assert.doesNotMatch(stderr, /s3cret|\n {4}at /);
      }),
    );
  },

  'warns on standard error about a misspelled setting, and works': () =>
    onDatabase(async ({ env }) => {
      const ran = await runProcess(['workspace', 'list', '--json'], { ...env, STORGE: 'mongodb' });
      assert.equal(answerOf(ran).length, 1);
      assert.equal(ran.stderr, 'warning: STORGE: not a setting, did you mean STORAGE?\n');
    }),

  'serves with memory storage too, until it is told to stop': async () => {
    const server = startCommand(['serve'], { PORT: '0' });
    const url = await server.printed(/listens on (http:[^,\s]+)/);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    const { code, stdout, stderr } = await runProcess(['serve'], { PORT: 'x' });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^error: PORT: must be a whole number/);
  },

  'refuses with 1 what a rule refuses': () =>
    onDatabase(async ({ advocacy, company: { workspaceId: w, adminId: m, ids } }) => {
      const c = ids.campaigns;
      const cases: Readonly<Record<string, string>> = {
        [`campaign set-status --workspace ${w} ${c} draft`]:
          'A campaign goes from published to archived, not to draft.',
        [`share record --workspace ${w} --campaign ${m} --member ${m}`]:
          'There is no campaign with this id in the workspace.',
        [`tag list --workspace ${c}`]: 'There is no workspace with this id.',
      };
      await Promise.all(
        Object.entries(cases).map(async ([line, says]) => {
          assert.deepEqual(await advocacy(line), { code: 1, stdout: '', stderr: `error: ${says}\n` });
        }),
      );
    }),

  'counts a share once, and every click, whoever records them at the same time': () =>
    onDatabase(async ({ advocacy, company: { workspaceId: w, adminId: m, ids } }) => {
      const c = ids.campaigns;
      const lines = Array.from({ length: 4 }, (_, i) =>
        i % 2
          ? `click record --workspace ${w} --campaign ${c} --count 3`
          : `share record --workspace ${w} --campaign ${c} --member ${m}`,
      );
      for (const { code, stderr } of await Promise.all(lines.map((line) => advocacy(line)))) {
        assert.deepEqual([code, stderr], [0, '']);
      }
      const [{ shares, clicks }] = answerOf(await advocacy(`campaign list --workspace ${w} --json`));
      assert.deepEqual([shares, clicks], [1, 6]);
    }),

  'changes what a server that runs answers, within five seconds': () =>
    onDatabase(async ({ advocacy, env, company: { workspaceId: w, adminId: m } }) => {
      const { id: k, key } = answerOf(await advocacy(`key create --workspace ${w} --member ${m} --json`));
      const server = startCommand(['serve'], { ...env, PORT: '0' });
      try {
        const url = await server.printed(/listens on (http:\S+)/);
        const status = async () =>
          (await fetch(`${url}/campaigns`, { headers: { Authorization: `Bearer ${key}` } })).status;
        const becomes = async (expected: number) => {
          const since = Date.now();
          while ((await status()) !== expected) {
            assert.ok(Date.now() - since < 5_000, `it is not ${expected} after five seconds`);
            await delay(50);
          }
        };
        assert.equal(await status(), 200);
        await advocacy(`member update --workspace ${w} ${m} --invitation expired`);
        await becomes(410);
        await advocacy(`key revoke --workspace ${w} ${k}`);
        await becomes(401);
      } finally {
        server.child.kill('SIGTERM');
      }
      assert.equal((await server.ended).code, 0);
    }),

  'stops an import at Ctrl-C, and says where to go on': () =>
    onDatabase(async ({ advocacy, env, company: { workspaceId: w } }) => {
      const importing = startCommand(['import', '--workspace', w, 'campaigns', '-'], env);
      const lines = Array.from({ length: 700 }, (_, i) => `${JSON.stringify({ ...campaignBody, name: `${i}` })}\n`);
      importing.child.stdin.write(`{}\n${lines.join('')}`);
      await importing.printed(/^(line 1): name: is required/);
      importing.child.kill('SIGINT');
      const { code, stdout } = await importing.ended;
      assert.equal(code, 130);
      assert.match(
        stdout,
        /\nStopped: 499 stored as campaigns, 1 refused \(lines 1 to 500\)\. Go on with --from-line 501\.\n$/,
      );
      assert.equal(answerOf(await advocacy(`campaign list --workspace ${w} --json`)).length, 1 + 499);
    }),

  'ends quietly when nobody reads its output any more': () =>
    onDatabase(async ({ advocacy, env, company: { workspaceId: w } }) => {
      const lines = Array.from({ length: 2000 }, () => JSON.stringify(campaignBody)).join('\n');
      assert.equal((await advocacy(`import --workspace ${w} campaigns -`, lines)).code, 0);
      for (const json of ['', '--json']) {
        const script = `"$NODE" "$CLI" campaign list --workspace ${w} ${json} | head -n 1; echo "\${PIPESTATUS[0]}"`;
        const words = { ...process.env, ...env, NODE: process.execPath, CLI };
        const { stdout, stderr } = await run('bash', ['-c', script], { env: words });
        assert.equal(stderr, '');
        assert.deepEqual([stdout.split('\n').length, stdout.split('\n')[1]], [3, '0']);
      }
    }),
});
