import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { harmless, table } from '../../adapters/cli/table.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';

const TERMINAL = { isTTY: true, columns: 80, hasColors: () => true };
const BOLD = '\x1b[1m';

async function withWorkspaces(count: number): Promise<CommandLine> {
  const line = commandLine();
  for (let i = 0; i < count; i++) await line.use.workspaces.create(`Company ${i}`);
  return line;
}

function failing(code: string): Writable {
  return new Writable({ write: (_, __, done) => done(Object.assign(new Error(code), { code })) });
}

suite('a table', {
  'aligns its columns, however wide their characters are, and ends no line with a space': () => {
    const rows = [
      ['1', 'Zoë', 'x'],
      ['22', 'Zoe\u0308', 'x'],
      ['3', '東京', 'x'],
      ['4', '🏆', 'x'],
      ['5', '', ''],
    ];
    assert.deepEqual(table(['ID', 'NAME', 'X'], rows), [
      'ID  NAME  X',
      '1   Zoë   x',
      '22  Zoe\u0308   x',
      '3   東京  x',
      '4   🏆    x',
      '5',
    ]);
  },

  'shows nothing that would change the terminal': () => {
    const name = 'a\nb\x1b[31mc\u0007d\u202ee\u2028f\u009bg';
    assert.equal(harmless(name), 'a�b�[31mc�d�e�f�g');
    assert.deepEqual(table(['NAME'], [[name]]), ['NAME', harmless(name)]);
    assert.equal(harmless('Zoë 👩‍💻 עברית'), 'Zoë 👩‍💻 עברית');
  },
});

suite('what a command writes', {
  'has colours on a terminal alone, and never with NO_COLOR': async () => {
    const { run } = await withWorkspaces(1);
    const list = async (given: object) => (await run(['workspace', 'list'], given)).stdout.startsWith(BOLD);
    assert.equal(await list({ stdout: TERMINAL }), true);
    assert.equal(await list({ stdout: TERMINAL, env: { NO_COLOR: '1' } }), false);
    assert.equal(await list({ stdout: TERMINAL, env: { NO_COLOR: '' } }), true);
    assert.equal(await list({ stdout: { ...TERMINAL, hasColors: () => false } }), false);
    assert.equal(await list({}), false);
    const { stdout } = await run(['workspace', 'list', '--json'], { stdout: TERMINAL });
    assert.equal(JSON.parse(stdout).length, 1);
  },

  'shows of a name what a terminal may, and gives programs all of it': async () => {
    const { run } = commandLine();
    const name = 'a\x1b[2Jb';
    const create = ['workspace', 'create', '--name', name];
    assert.match((await run(create)).stdout, /^The workspace a�\[2Jb is made: /);
    assert.equal(JSON.parse((await run([...create, '--json'])).stdout).name, name);
  },

  'ends, and reads no further, when nobody reads it any more': async () => {
    const { run, storage } = await withWorkspaces(5000);
    const list = storage.workspaces.list.bind(storage.workspaces);
    let reads = 0;
    storage.workspaces.list = (after, take) => {
      reads++;
      return list(after, take);
    };
    const { code, stderr } = await run(['workspace', 'list', '--json'], { stdout: failing('EPIPE') });
    assert.deepEqual([code, stderr, reads], [0, '', 1]);
  },

  'is told to be missing where it could not be written, and ends with 2': async () => {
    const { run } = await withWorkspaces(1);
    const lines = ['workspace list', 'workspace list --json', '--help', 'help seed', '--version'];
    for (const line of lines) {
      const { code, stderr } = await run(line.split(' '), { stdout: failing('ENOSPC') });
      assert.deepEqual([code, stderr], [2, 'error: the answer could not be written: ENOSPC\n'], line);
    }
    const created = await run(['workspace', 'create', '--name', 'New'], { stdout: failing('ENOSPC') });
    assert.equal(created.code, 2);
    assert.match(created.stderr, /^The workspace New is made: .*\nerror: the answer could not be written: ENOSPC\n$/);
  },

  'is nothing that would change the terminal, of wrong words either': async () => {
    const { stderr } = await commandLine().run(['no\x1b[31m']);
    assert.equal(stderr, "error: unknown command 'no�[31m'\n");
  },

  'is one JSON value, however many batches it is made of': async () => {
    const { run } = await withWorkspaces(2100);
    const { stdout } = await run(['workspace', 'list', '--json']);
    const names = JSON.parse(stdout).map(({ name }: { name: string }) => name);
    assert.deepEqual(
      names,
      Array.from({ length: 2100 }, (_, i) => `Company ${i}`),
    );
  },
});
