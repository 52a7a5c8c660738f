import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pages } from '../../adapters/docs/pages.ts';
import { root } from '../support/compose.ts';
import { buildImage, type Image } from '../support/dockerfile.ts';
import { createDatabase } from '../support/mongod.ts';
import { getRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

suite('the image of the Dockerfile', {
  'serves with MongoDB and Redis, is healthy, and stops on a signal': () =>
    withImage(async (image) => {
      const [database, redis] = [await createDatabase(), await getRedis()];
      const databases = {
        STORAGE: 'mongodb',
        MONGODB_URI: database.uri,
        RATE_LIMITER: 'redis',
        REDIS_URL: redis.url,
      };
      const server = start(image, image.command, { ...databases, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' });
      try {
        const url = await waitForOutput(server, /listens on (http:[^\s"]+)/);
        const { port } = new URL(url);
        const isHealthy = async () => (await waitForExit(start(image, image.healthCheck, { PORT: port }))) === 0;
        while ((await fetch(`${url}/readyz`)).status !== 200) await delay(100);
        const key = await createFirstKey((command) =>
          start(image, ['node', 'dist/bootstrap/cli.js', ...command], databases),
        );
        const headers = { Authorization: `Bearer ${key}` };
        assert.equal((await fetch(`${url}/campaigns`, { headers })).status, 200);
        // The pages need files that are not in `dist`.
        for (const path of ['/llms.txt', ...pages.map((page) => page.path)])
          assert.equal((await fetch(url + path)).status, 200, path);
        assert.equal(await isHealthy(), true);
        server.kill('SIGTERM');
        assert.equal(await waitForExit(server), 0);
        assert.equal(await isHealthy(), false);
      } finally {
        server.kill('SIGKILL');
        await database.stop();
        await redis.stop();
      }
    }),

  'keeps its data by default in the volume, where the user of the image can write': () =>
    withImage(async (image) => {
      const { folder, volume = '', workdir } = image;
      assert.equal(volume, join(workdir, 'data'));
      await run('chmod', ['u+w', join(folder, volume)]);
      const settings = { HOST: '127.0.0.1', PORT: '0', DEMO_API_KEY: 'demo-key-of-the-tests' };
      const post = async (name: string) => {
        const server = start(image, image.command, settings);
        try {
          const url = await waitForOutput(server, /listens on (http:[^\s"]+)/);
          const headers = { Authorization: `Bearer ${settings.DEMO_API_KEY}`, 'Content-Type': 'application/json' };
          return (await fetch(`${url}/tags`, { method: 'POST', headers, body: JSON.stringify({ name }) })).status;
        } finally {
          server.kill('SIGTERM');
          await waitForExit(server);
        }
      };
      assert.equal(await post('kept'), 201);
      assert.equal(await post('KEPT'), 409);
      assert.deepEqual(await readdir(join(folder, volume)), ['advocacy.db']);
    }),

  "runs, backs up and restores with the commands of the operator's guide": () =>
    withImage(async ({ folder, volume = '', workdir, command }) =>
      withTemporaryFolder(async (parent) => {
        await run('chmod', ['u+w', join(folder, volume)]);
        await writeFile(join(parent, 'docker'), createDocker(join(folder, workdir), command), { mode: 0o755 });
        const [start = '', backUp = '', restore = ''] = findDockerBlocks();
        const list = 'docker exec advocacy node dist/bootstrap/cli.js workspace list';
        const script = `${start}\n${backUp}\n${list}\n${restore}\n${restore}\n${list}\ndocker stop advocacy`;
        const env = { ...process.env, PATH: `${parent}:${process.env.PATH}` };
        const { stdout } = await run('bash', ['-ec', script], { cwd: parent, env });
        assert.equal(stdout.match(/ {2}Contoso {2}/g)?.length, 2, stdout);
        assert.equal((await readdir(join(folder, volume))).filter((name) => name.startsWith('old.')).length, 2);
      }),
    ),

  'contains only files and packages that production needs': () =>
    withImage(async ({ folder, workdir, env, user }) => {
      const packages = await readdir(join(folder, workdir, 'node_modules'));
      for (const name of ['express', '@photostructure', 'mongodb', 'ioredis', 'pino'])
        assert.ok(packages.includes(name), name);
      for (const name of ['typescript', 'uvu', 'knip', 'ajv']) assert.ok(!packages.includes(name), name);
      assert.deepEqual((await readdir(join(folder, workdir, 'dist'))).sort(), ['adapters', 'bootstrap', 'core']);
      assert.deepEqual(env, { NODE_ENV: 'production', HOST: '0.0.0.0' });
      assert.match(user as string, /^[1-9]\d*:[1-9]\d*$/);
    }),
});

/**
 * Runs a test with the image of the Dockerfile, which is built without Docker in a temporary folder. The folder is
 * read-only during the test, like the file system of the image in production.
 */
function withImage(test: (image: Image) => Promise<void>): Promise<void> {
  return withTemporaryFolder(async (folder) => {
    try {
      const image = await buildImage(folder);
      await run('chmod', ['-R', 'a-w,a+rX', folder]);
      await test(image);
    } finally {
      await run('chmod', ['-R', 'u+w', folder]);
    }
  });
}

const run = promisify(execFile);

/** Returns the blocks of the section "Run with Docker" of the operator's guide. */
function findDockerBlocks(): string[] {
  const [, section = ''] =
    /^## Run with Docker\n(.*?)^## /ms.exec(readFileSync(join(root, 'docs/operating.md'), 'utf8')) ?? [];
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string);
}

/**
 * Creates a program that runs the commands of `docker` on a folder that is the image and its volume. The ports are free
 * ones.
 */
function createDocker(app: string, command: readonly string[]): string {
  return `#!/bin/bash
state=$(dirname "$0")
start() {
  (cd ${app} && exec env $(cat "$state/env") HOST=127.0.0.1 PORT=0 LINKS_PORT=0 METRICS_PORT=0 ${command.join(' ')}) \
    >"$state/log" 2>&1 &
  echo $! >"$state/pid"
  until grep --quiet 'listens on' "$state/log"; do kill -0 $! || { cat "$state/log" >&2; exit 1; }; done
}
case "$1 $2" in
  'stop '*) kill $(cat "$state/pid") && while kill -0 $(cat "$state/pid") 2>/dev/null; do :; done ;;
  'start '*) start ;;
  'exec '*) shift 2 && cd ${app} && exec "$@" ;;
  'run --detach')
    while [ "$1" != --env-file ]; do shift; done
    cp "$2" "$state/env" && start ;;
  'run '*)
    while [[ "$1" != workspace-advocacy:* ]]; do shift; done
    shift && cd ${app} && exec "$@" ;;
esac
`;
}

/** Starts a command of the image. If this process is root, the command runs as the user of the image. */
function start(image: Image, [command, ...rest]: readonly string[], env: Record<string, string>): ChildProcess {
  const [uid, gid] = (image.user as string).split(':').map(Number) as [number, number];
  return spawn(command as string, rest, {
    cwd: join(image.folder, image.workdir),
    env: { PATH: process.env.PATH, ...image.env, ...env },
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
}

/** Creates a workspace, its admin and an API key, as docs/operating.md describes. */
async function createFirstKey(startCommand: (command: string[]) => ChildProcess): Promise<string> {
  const createRecord = (command: string[]) => waitForOutput(startCommand([...command, '--json']), /"id": ?"([^"]+)"/);
  const workspace = await createRecord(['workspace', 'create', '--name', 'Contoso']);
  const admin = ['--name', 'Kim', '--email', 'kim@contoso.example', '--role', 'admin', '--invitation', 'accepted'];
  const member = await createRecord(['member', 'create', '--workspace', workspace, ...admin]);
  const key = ['key', 'create', '--workspace', workspace, '--member-id', member, '--json'];
  return waitForOutput(startCommand(key), /"key": ?"([^"]+)"/);
}

/**
 * Waits for output that matches, and returns the first group. Rejects with the whole output if the process exits before
 * that.
 */
async function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  child.stderr?.on('data', (chunk) => (text += chunk));
  for await (const chunk of child.stdout as NonNullable<ChildProcess['stdout']>) {
    text += chunk;
    const match = pattern.exec(text);
    if (match) return match[1] as string;
  }
  throw new Error(`exited with this output: ${text}`);
}

async function waitForExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}
