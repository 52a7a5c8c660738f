import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { createCommandLine, type TestCommandLine } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

async function createWithWorkspaces(count: number): Promise<TestCommandLine> {
  const cli = createCommandLine();
  for (let i = 0; i < count; i++) await cli.app.workspaces.create(`Company ${i}`);
  return cli;
}

function createFailingStream(code: string): Writable {
  return new Writable({ write: (_, __, done) => done(Object.assign(new Error(code), { code })) });
}

suite('a table', {
  'aligns columns of narrow and wide characters, without trailing spaces and control characters': async () => {
    const { run, app } = createCommandLine();
    const names = [
      'Zoë',
      'Zoe\u0308',
      '東京',
      '🏆',
      '👩‍💻',
      '✅',
      '❤️',
      '🇵🇹',
      'a\nb\x1b[31mc\u0007d\u202ee\u2028f\u009bg',
    ];
    for (const name of names) await app.workspaces.create(name);
    const { stdout } = await run(['workspace', 'list']);
    const lines = stdout.split('\n').map((line) => line.replace(/^.{36} {2}/u, '').replace(/2026.*/, '2026'));
    assert.deepEqual(lines, [
      'NAME               CREATED AT',
      'Zoë                2026',
      'Zoe\u0308                2026',
      '東京               2026',
      '🏆                 2026',
      '👩‍💻                 2026',
      '✅                 2026',
      '❤️                 2026',
      '🇵🇹                 2026',
      'a�b�[31mc�d�e�f�g  2026',
      '',
    ]);
  },
});

/** Characters that control a terminal: they move the cursor, end the line or change the direction of the text. */
const CONTROL_CHARACTERS =
  '\x07\x08\r\x1b[2J\x1b]0;title\x07\x7f\x80\x85\x9b31m\x9d\x9f\u2028\u2029\u202a\u202e\u2066\u2069';
const hasControlCharacters = (text: string) => /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text);

/**
 * Creates a workspace whose records have control characters in their names, and command lines that print these names.
 */
async function createWithControlCharacters() {
  const cli = createCommandLine();
  const { app } = cli;
  const name = `a${CONTROL_CHARACTERS}b`;
  const { id } = await app.workspaces.create(name);
  await app.members.create(id, { name, email: `a\x9b@\x9b.example` });
  await app.apiKeys.create(id, { label: name });
  await app.groups.create(id, { name });
  await app.tags.create(id, { name });
  const campaign = await app.campaigns.create({ workspaceId: id }, createCampaignFields(name));
  const commandLines = [
    'member list',
    'key list',
    'group list',
    'tag list',
    'campaign list',
    `campaign update ${campaign.id} --status archived`,
  ];
  const commands = [
    ['workspace', 'list'],
    ['workspace', 'create', '--name', name],
    ...commandLines.map((args) => [...args.split(' '), '--workspace', id]),
    ['member', 'create', '--workspace', id, '--name', name, '--email', 'a\x9b@b.example'],
    ['key', 'delete', '--workspace', id, name],
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

  'is a table that is written while records are read, with the column widths of the first thousand rows': async () => {
    const { run, app } = await createWithWorkspaces(1100);
    const long = 'x'.repeat(100);
    await app.workspaces.create(long);
    assert.equal(JSON.parse((await run(['workspace', 'list', '--json'])).stdout).length, 1101);
    const { stdout } = await run(['workspace', 'list']);
    assert.match(stdout, new RegExp(`\\n\\S{36}  Company 9 {4}2026.*\\n\\S{36}  ${long}  2026[^\\n]*\\n$`, 's'));
  },

  'has each page of a list before the next page is read': async () => {
    const { run, app, engine } = createCommandLine();
    const { id } = await app.workspaces.create('Northwind');
    for (const name of ['One', 'Two', 'Three']) await app.tags.create(id, { name });
    const list = engine.tags.list.bind(engine.tags);
    const chunks: unknown[] = [];
    const stdout = () => new Writable({ write: (chunk, _, done) => [chunks.push(chunk), done()] });
    for (const json of [[], ['--json']]) {
      const lengths: number[] = [];
      chunks.length = 0;
      engine.tags.list = (...args) => {
        lengths.push(chunks.length);
        return list(...args);
      };
      await run(['tag', 'list', '--all', '--page-size', '1', ...json], { stdout: stdout() });
      assert.equal(lengths.length, 3);
      assert.deepEqual(
        [...new Set(lengths)].sort((a, b) => a - b),
        lengths,
      );
    }
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
      /^id {9}\S+\nname {7}New\ncreatedAt .*\nerror: the output could not be written: ENOSPC\n$/,
    );
  },
});
