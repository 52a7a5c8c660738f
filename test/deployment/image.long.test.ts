import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pages } from '../../adapters/docs/pages.ts';
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
