import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { computeColumnWidths, formatTableRow } from '../../adapters/cli/table.ts';
import { replaceControlCharacters } from '../../adapters/logging/terminal-text.ts';
import { createCommandLine, type TestCommandLine } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const TERMINAL = { isTTY: true, columns: 80, hasColors: () => true };
const BOLD = '\x1b[1m';

async function createWithWorkspaces(count: number): Promise<TestCommandLine> {
  const cli = createCommandLine();
  for (let i = 0; i < count; i++) await cli.app.workspaces.create(`Company ${i}`);
  return cli;
}

function createFailingStream(code: string): Writable {
  return new Writable({ write: (_, __, done) => done(Object.assign(new Error(code), { code })) });
}

/** Returns the lines of a table, whose column widths depend on all rows. If `width` is given, the lines fit this width. */
function formatTable(columns: readonly string[], rows: readonly (readonly string[])[], width?: number): string[] {
  const widths = computeColumnWidths(columns, rows, width);
  return [columns, ...rows].map((cells) => formatTableRow(cells, widths, width !== undefined));
}

suite('a table', {
  'aligns columns of narrow and wide characters, without trailing spaces': () => {
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
    assert.deepEqual(formatTable(['ID', 'NAME', 'X'], rows), [
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

  'fits the terminal: shortens the widest columns first and the IDs last, and marks shortened cells with …': () => {
    const rows = [
      ['0190163d-8694', 'A name that is long', 'published'],
      ['0190163d-8695', '東京東京東京東京', 'draft'],
      ['0190163d-8696', '👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻', ''],
    ];
    const columns = ['ID', 'NAME', 'STATUS'];
    assert.deepEqual(formatTable(columns, rows, 36), [
      'ID             NAME        STATUS',
      '0190163d-8694  A name th…  published',
      '0190163d-8695  東京東京…   draft',
      '0190163d-8696  👩‍💻👩‍💻👩‍💻👩‍💻…',
    ]);
    assert.deepEqual(formatTable(columns, rows, 20), [
      'ID        NAME  STA…',
      '0190163…  A n…  pub…',
      '0190163…  東…   dra…',
      '0190163…  👩‍💻…',
    ]);
    assert.deepEqual(formatTable(columns, rows, 1), formatTable(columns, rows, 16));
    assert.deepEqual(formatTable(columns, rows, 99), formatTable(columns, rows));
  },

  'replaces control characters': () => {
    const name = 'a\nb\x1b[31mc\u0007d\u202ee\u2028f\u009bg';
    assert.equal(replaceControlCharacters(name), 'a�b�[31mc�d�e�f�g');
    assert.deepEqual(formatTable(['NAME'], [[name]]), ['NAME', replaceControlCharacters(name)]);
    assert.equal(replaceControlCharacters('Zoë 👩‍💻 עברית'), 'Zoë 👩‍💻 עברית');
  },
});

/** Characters that control a terminal: they move the cursor, end the line or change the direction of the text. */
const CONTROL_CHARACTERS =
  '\x07\x08\r\x1b[2J\x1b]0;title\x07\x7f\x80\x85\x9b31m\x9d\x9f\u2028\u2029\u202a\u202e\u2066\u2069';
const hasControlCharacters = (text: string) => /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text);

/** Creates a workspace whose records have control characters in their names, and command lines that print these names. */
async function createWithControlCharacters() {
  const cli = createCommandLine();
  const { app } = cli;
  const name = `a${CONTROL_CHARACTERS}b`;
  const { id } = await app.workspaces.create(name);
  await app.members.create(id, { name, email: `a\x9b@\x9b.example` });
  await app.apiKeys.create(id, { label: name });
  await app.groups.create(id, { name });
  await app.tags.create(id, name);
  const campaign = await app.campaigns.create({ workspaceId: id }, createCampaignFields(name));
  const commandLines = [
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
    ...commandLines.map((args) => [...args.split(' '), '--workspace', id]),
    ['member', 'create', '--workspace', id, '--name', name, '--email', 'a\x9b@b.example'],
    ['key', 'revoke', '--workspace', id, name],
    ['tag', 'list', '--workspace', name],
    ['tag', name],
    ['import', '--workspace', id, 'tags', name],
    ['import', '--workspace', id, 'tags', '-'],
  ];
  const stdin = [`{"name": ${JSON.stringify(name)}, "${'\x9b\x7f'}": 1}`];
  return { ...cli, name, commands, stdin };
}

suite('a name with control characters', {
  'is printed without control characters, also on standard error if standard output fails': async () => {
    const { run, commands, stdin } = await createWithControlCharacters();
    await each(Object.fromEntries(commands.map((args) => [args.join(' '), args])), async (args) => {
      for (const error of [undefined, 'ENOSPC', 'EPIPE']) {
        for (const json of [[], ['--json']]) {
          const output = await run([...args, ...json], {
            stdin,
            ...(error && { stdout: createFailingStream(error) }),
          });
          if (error !== 'EPIPE') assert.notEqual(output.stdout + output.stderr, '');
          assert.ok(!hasControlCharacters(output.stdout), JSON.stringify(output.stdout));
          assert.ok(!hasControlCharacters(output.stderr), JSON.stringify(output.stderr));
        }
      }
    });
  },

  'is complete and escaped in JSON': async () => {
    const { run, name } = await createWithControlCharacters();
    const { stdout } = await run(['workspace', 'list', '--json']);
    assert.equal(JSON.parse(stdout)[0].name, name);
    assert.match(stdout, /\\u007f\\u0080\\u0085\\u009b31m.*\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069/);
  },
});

suite('the output of a command', {
  'has colors only on a terminal, and not with NO_COLOR': async () => {
    const { run } = await createWithWorkspaces(1);
    const hasColors = async (options: object) => (await run(['workspace', 'list'], options)).stdout.startsWith(BOLD);
    assert.equal(await hasColors({ stdout: TERMINAL }), true);
    assert.equal(await hasColors({ stdout: TERMINAL, env: { NO_COLOR: '1' } }), false);
    assert.equal(await hasColors({ stdout: TERMINAL, env: { NO_COLOR: '' } }), true);
    assert.equal(await hasColors({ stdout: { ...TERMINAL, hasColors: () => false } }), false);
    assert.equal(await hasColors({}), false);
    const { stdout } = await run(['workspace', 'list', '--json'], { stdout: TERMINAL });
    assert.equal(JSON.parse(stdout).length, 1);
  },

  'ends, and the command reads no more records, when the reader closes the pipe': async () => {
    const { run, engine } = await createWithWorkspaces(5000);
    const list = engine.workspaces.list.bind(engine.workspaces);
    let reads = 0;
    engine.workspaces.list = (after, take) => {
      reads++;
      return list(after, take);
    };
    for (const json of [['--json'], []]) {
      reads = 0;
      const { code, stderr } = await run(['workspace', 'list', ...json], { stdout: createFailingStream('EPIPE') });
      assert.deepEqual([code, stderr, reads], [0, '', 1]);
    }
  },

  'is truncated to the width of a terminal, and complete otherwise': async () => {
    const { run, app } = createCommandLine();
    const long = '東京 '.repeat(60).trim();
    await app.workspaces.create(long);
    const getLines = async (stdout: object) => (await run(['workspace', 'list'], { stdout })).stdout.split('\n');
    const measureWidth = (line: string) => line.replace(/[^ -~…]/g, '..').length;
    const [heading = '', row = ''] = await getLines({ ...TERMINAL, hasColors: () => false });
    assert.match(row, /^\S{36} {2}東京 .*… {2,3}2026-01-31T12:00:00…$/);
    for (const line of [heading, row]) assert.ok(measureWidth(line) <= 80, line);
    for (const otherOutput of [{}, { columns: 80 }, { isTTY: true, columns: 0 }]) {
      assert.ok((await getLines(otherOutput))[1]?.includes(`  ${long}  2026`));
    }
  },

  'is a table that is written while records are read, with the column widths of the first thousand rows': async () => {
    const { run, app } = await createWithWorkspaces(1100);
    const long = 'x'.repeat(100);
    await app.workspaces.create(long);
    const getLastLine = async (stdout: object) =>
      (await run(['workspace', 'list'], { stdout })).stdout.trimEnd().split('\n').at(-1);
    assert.match((await getLastLine({})) as string, new RegExp(`^\\S{36}  ${long}  2026`));
    assert.match((await getLastLine({ ...TERMINAL, columns: 120 })) as string, /^\S{36} {2}x{10}… {2}2026/);
  },

  'causes an error and exit code 2 if it cannot be written': async () => {
    const { run } = await createWithWorkspaces(1);
    const lines = ['workspace list', 'workspace list --json', '--help', 'help copy', '--version'];
    for (const line of lines) {
      const { code, stderr } = await run(line.split(' '), { stdout: createFailingStream('ENOSPC') });
      assert.deepEqual([code, stderr], [2, 'error: the output could not be written: ENOSPC\n'], line);
    }
    const created = await run(['workspace', 'create', '--name', 'New'], { stdout: createFailingStream('ENOSPC') });
    assert.equal(created.code, 2);
    assert.match(
      created.stderr,
      /^The workspace New was created: .*\nerror: the output could not be written: ENOSPC\n$/,
    );
  },

  'is one JSON value even if the records are read in several batches': async () => {
    const { run } = await createWithWorkspaces(2100);
    const { stdout } = await run(['workspace', 'list', '--json']);
    const names = JSON.parse(stdout).map(({ name }: { name: string }) => name);
    assert.deepEqual(
      names,
      Array.from({ length: 2100 }, (_, i) => `Company ${i}`),
    );
  },
});
