import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { buildIn, type Image } from '../support/dockerfile.ts';
import { mongod } from '../support/mongod.ts';
import { redis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';

suite('What the Dockerfile makes', {
  'serves with MongoDB and Redis, is found healthy, and stops when it is told to': () =>
    inImage(async (image) => {
      const [database, counter] = [await mongod(), await redis()];
      const databases = {
        STORAGE: 'mongodb',
        MONGODB_URI: database.uri,
        RATE_LIMITER: 'redis',
        REDIS_URL: counter.url,
      };
      const server = start(image, image.command, { ...databases, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' });
      try {
        const url = await printed(server, /listens at (http:\S+)/);
        const { port } = new URL(url);
        const isHealthy = async () => (await ended(start(image, image.healthCheck, { PORT: port }))) === 0;
        while ((await fetch(`${url}/readyz`)).status !== 200) await delay(100);
        const key = await firstKey((command) => start(image, ['node', 'dist/bootstrap/cli.js', ...command], databases));
        const headers = { Authorization: `Bearer ${key}` };
        assert.equal((await fetch(`${url}/campaigns`, { headers })).status, 200);
        assert.equal(await isHealthy(), true);
        server.kill('SIGTERM');
        assert.equal(await ended(server), 0);
        assert.equal(await isHealthy(), false);
      } finally {
        server.kill('SIGKILL');
        await database.stop();
        await counter.stop();
      }
    }),

  'holds what production needs and no more': () =>
    inImage(async ({ folder, workdir, env, user }) => {
      const packages = await readdir(join(folder, workdir, 'node_modules'));
      for (const name of ['express', 'mongodb', 'ioredis', 'pino']) assert.ok(packages.includes(name), name);
      for (const name of ['typescript', 'uvu', 'knip', 'ajv']) assert.ok(!packages.includes(name), name);
      assert.deepEqual((await readdir(join(folder, workdir, 'dist'))).sort(), [
        'adapters',
        'bootstrap',
        'build.json',
        'core',
      ]);
      assert.deepEqual(env, { NODE_ENV: 'production', HOST: '0.0.0.0' });
      assert.match(user as string, /^[1-9]\d*:[1-9]\d*$/);
    }),
});

/** Builds the image in a folder of its own, and makes all of it read-only, as its file system is in production. */
async function inImage(test: (image: Image) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
  try {
    const image = await buildIn(folder);
    await run('chmod', ['-R', 'a-w,a+rX', folder]);
    await test(image);
  } finally {
    await run('chmod', ['-R', 'u+w', folder]);
    await rm(folder, { recursive: true });
  }
}

const run = promisify(execFile);

/** Runs a command of the image, as its user where this one may become another. */
function start(image: Image, [command, ...rest]: readonly string[], env: Record<string, string>): ChildProcess {
  const [uid, gid] = (image.user as string).split(':').map(Number) as [number, number];
  return spawn(command as string, rest, {
    cwd: join(image.folder, image.workdir),
    env: { PATH: process.env.PATH, ...image.env, ...env },
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
}

/** Makes a workspace, its admin and a key, as docs/operating.md has it. */
async function firstKey(operate: (command: string[]) => ChildProcess): Promise<string> {
  const id = (command: string[]) => printed(operate([...command, '--json']), /"id": ?"([^"]+)"/);
  const workspace = await id(['workspace', 'create', '--name', 'Contoso']);
  const admin = ['--name', 'Kim', '--email', 'kim@contoso.example', '--role', 'admin'];
  const member = await id(['member', 'create', '--workspace', workspace, ...admin]);
  const key = ['key', 'create', '--workspace', workspace, '--member', member, '--json'];
  return printed(operate(key), /"key": ?"([^"]+)"/);
}

/** What a process prints that matches; fails with all that it printed when it ends before. */
async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  child.stderr?.on('data', (chunk) => (text += chunk));
  for await (const chunk of child.stdout as NonNullable<ChildProcess['stdout']>) {
    text += chunk;
    const match = pattern.exec(text);
    if (match) return match[1] as string;
  }
  throw new Error(`ended, having printed: ${text}`);
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}
