import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { tableLine, widthsOf } from '../../adapters/cli/table.ts';
import { harmless } from '../../adapters/cli/terminal-text.ts';
import type { NewCampaign } from '../../core/campaign/campaign.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const TERMINAL = { isTTY: true, columns: 80, hasColors: () => true };
const BOLD = '\x1b[1m';

async function withWorkspaces(count: number): Promise<CommandLine> {
  const line = commandLine();
  for (let i = 0; i < count; i++) await line.app.workspaces.create(`Company ${i}`);
  return line;
}

function failing(code: string): Writable {
  return new Writable({ write: (_, __, done) => done(Object.assign(new Error(code), { code })) });
}

/** The lines of a table whose widths follow from all of its rows; cut to fit if there is a width. */
function table(columns: readonly string[], rows: readonly (readonly string[])[], width?: number): string[] {
  const widths = widthsOf(columns, rows, width);
  return [columns, ...rows].map((cells) => tableLine(cells, widths, width !== undefined));
}

suite('a table', {
  'aligns its columns, however wide their characters are, and ends no line with a space': () => {
    const rows = [
      ['1', 'Zoë', 'x'],
      ['22', 'Zoe\u0308', 'x'],
      ['3', '東京', 'x'],
      ['4', '🏆', 'x'],
      ['5', '👩‍💻', 'x'],
      ['6', '✅', 'x'],
      ['7', '❤️', 'x'],
      ['8', '🇵🇹', 'x'],
      ['9', '', ''],
    ];
    assert.deepEqual(table(['ID', 'NAME', 'X'], rows), [
      'ID  NAME  X',
      '1   Zoë   x',
      '22  Zoe\u0308   x',
      '3   東京  x',
      '4   🏆    x',
      '5   👩‍💻    x',
      '6   ✅    x',
      '7   ❤️    x',
      '8   🇵🇹    x',
      '9',
    ]);
  },

  'fits the terminal: its widest columns are cut with …, the ids last': () => {
    const rows = [
      ['0190163d-8694', 'A name that is long', 'published'],
      ['0190163d-8695', '東京東京東京東京', 'draft'],
      ['0190163d-8696', '👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻', ''],
    ];
    const columns = ['ID', 'NAME', 'STATUS'];
    assert.deepEqual(table(columns, rows, 36), [
      'ID             NAME        STATUS',
      '0190163d-8694  A name th…  published',
      '0190163d-8695  東京東京…   draft',
      '0190163d-8696  👩‍💻👩‍💻👩‍💻👩‍💻…',
    ]);
    assert.deepEqual(table(columns, rows, 20), [
      'ID        NAME  STA…',
      '0190163…  A n…  pub…',
      '0190163…  東…   dra…',
      '0190163…  👩‍💻…',
    ]);
    assert.deepEqual(table(columns, rows, 1), table(columns, rows, 16));
    assert.deepEqual(table(columns, rows, 99), table(columns, rows));
  },

  'shows nothing that would change the terminal': () => {
    const name = 'a\nb\x1b[31mc\u0007d\u202ee\u2028f\u009bg';
    assert.equal(harmless(name), 'a�b�[31mc�d�e�f�g');
    assert.deepEqual(table(['NAME'], [[name]]), ['NAME', harmless(name)]);
    assert.equal(harmless('Zoë 👩‍💻 עברית'), 'Zoë 👩‍💻 עברית');
  },
});

/** Characters that would do something to a terminal: move the cursor, end its line, turn the direction of text. */
const HARMFUL = '\x07\x08\r\x1b[2J\x1b]0;title\x07\x7f\x80\x85\x9b31m\x9d\x9f\u2028\u2029\u202a\u202e\u2066\u2069';
const isHarmful = (text: string) => /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text);

/** A workspace whose records all have a name that would harm a terminal, and the words of commands that show it. */
async function harmful() {
  const line = commandLine();
  const { app } = line;
  const name = `a${HARMFUL}b`;
  const { id } = await app.workspaces.create(name);
  await app.members.create(id, { name, email: `a\x9b@\x9b.example` });
  await app.apiKeys.create(id, { label: name });
  await app.groups.create(id, { name });
  await app.tags.create(id, name);
  const campaign = await app.campaigns.create({ workspaceId: id }, { ...(campaignBody as never as NewCampaign), name });
  const shown = [
    'member list',
    'key list',
    'group list',
    'tag list',
    'campaign list',
    `campaign set-status ${campaign.id} archived`,
  ];
  const commands = [
    ['workspace', 'list'],
    ['workspace', 'create', '--name', name],
    ...shown.map((words) => [...words.split(' '), '--workspace', id]),
    ['member', 'create', '--workspace', id, '--name', name, '--email', 'a\x9b@b.example'],
    ['key', 'revoke', '--workspace', id, name],
    ['tag', 'list', '--workspace', name],
    ['tag', 'list', `--work${name}`],
    ['import', '--workspace', id, 'tags', name],
    ['import', '--workspace', id, 'tags', '-'],
  ];
  const stdin = [`{"name": ${JSON.stringify(name)}, "${'\x9b\x7f'}": 1}`];
  return { ...line, name, commands, stdin };
}

suite('a name that would harm a terminal', {
  'is printed without control characters, also on standard error if standard output fails': async () => {
    const { run, commands, stdin } = await harmful();
    await each(Object.fromEntries(commands.map((words) => [words.join(' '), words])), async (words) => {
      for (const error of [undefined, 'ENOSPC', 'EPIPE']) {
        for (const json of [[], ['--json']]) {
          const ran = await run([...words, ...json], { stdin, ...(error && { stdout: failing(error) }) });
          if (error !== 'EPIPE') assert.notEqual(ran.stdout + ran.stderr, '');
          assert.ok(!isHarmful(ran.stdout), JSON.stringify(ran.stdout));
          assert.ok(!isHarmful(ran.stderr), JSON.stringify(ran.stderr));
        }
      }
    });
  },

  'is complete and escaped in JSON': async () => {
    const { run, name } = await harmful();
    const { stdout } = await run(['workspace', 'list', '--json']);
    assert.equal(JSON.parse(stdout)[0].name, name);
    assert.match(stdout, /\\u007f\\u0080\\u0085\\u009b31m.*\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069/);
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
    for (const json of [['--json'], []]) {
      reads = 0;
      const { code, stderr } = await run(['workspace', 'list', ...json], { stdout: failing('EPIPE') });
      assert.deepEqual([code, stderr, reads], [0, '', 1]);
    }
  },

  'is cut to the width of a terminal, and complete otherwise': async () => {
    const { run, app } = commandLine();
    const long = '東京 '.repeat(60).trim();
    await app.workspaces.create(long);
    const lines = async (stdout: object) => (await run(['workspace', 'list'], { stdout })).stdout.split('\n');
    const cellsOf = (line: string) => line.replace(/[^ -~…]/g, '..').length;
    const [heading = '', row = ''] = await lines({ ...TERMINAL, hasColors: () => false });
    assert.match(row, /^\S{36} {2}東京 .*… {2,3}2026-01-31T12:00:00…$/);
    for (const line of [heading, row]) assert.ok(cellsOf(line) <= 80, line);
    for (const elsewhere of [{}, { columns: 80 }, { isTTY: true, columns: 0 }]) {
      assert.ok((await lines(elsewhere))[1]?.includes(`  ${long}  2026`));
    }
  },

  'is a table whose rows are written as they are read, cut to the width of the first thousand': async () => {
    const { run, app } = await withWorkspaces(1100);
    const long = 'x'.repeat(100);
    await app.workspaces.create(long);
    const last = async (stdout: object) =>
      (await run(['workspace', 'list'], { stdout })).stdout.trimEnd().split('\n').at(-1);
    assert.match((await last({})) as string, new RegExp(`^\\S{36}  ${long}  2026`));
    assert.match((await last({ ...TERMINAL, columns: 120 })) as string, /^\S{36} {2}x{10}… {2}2026/);
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
