import assert from 'node:assert/strict';
import { operations } from '../../adapters/api/operations.ts';
import { commands } from '../../adapters/cli/commands.ts';
import { createCommandLine } from '../support/command-line.ts';
import { each, textCases } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const parents = commands.map(({ name }) => name.split(' ')[0] as string);
const helpLevels = [...new Set(['', ...parents, ...commands.map(({ name }) => name), 'serve'])];

/** Invalid command lines, and a part of their error. */
const usageErrors: Readonly<Record<string, RegExp>> = {
  'workspce list': /unknown command 'workspce'\n\(Did you mean workspace\?\)/,
  'workspace lst': /unknown command 'lst'\n\(Did you mean list\?\)/,
  'workspace list --jso': /unknown option '--jso'\n\(Did you mean --json\?\)/,
  'workspace create': /--name: is required/,
  'workspace create --nam A': /unknown option '--nam'\n\(Did you mean --name\?\)/,
  'tag update --nam A': /unknown option '--nam'\n\(Did you mean --name\?\)/,
  'tag creat --name A': /unknown command 'creat'\n\(Did you mean create\?\)/,
  'workspace create --name': /argument missing/,
  'workspace create --name --json': /--name: value missing\. If it is '--json', write '--name=--json'/,
  'workspace create --name --': /--name: value missing/,
  'workspace create --name -h': /--name: value missing/,
  'workspace create --name=': /--name: must not be blank/,
  'keey --help': /unknown command 'keey'\n\(Did you mean key\?\)/,
  'key creat --help': /unknown command 'creat'\n\(Did you mean create\?\)/,
  'help key creat': /unknown command 'creat'/,
  'me sharez': /unknown command 'sharez'\n\(Did you mean shares\?\)/,
  'domain markverified x': /unknown command 'markverified'\n\(Did you mean mark-verified\?\)/,
  'member create --seatType advocate': /unknown option '--seatType'\n\(Did you mean --seat-type\?\)/,
  'workspace create --name A --name B': /--name: must not be given twice/,
  'workspace list more': /too many arguments/,
  'member create --workspace W --name Ada --email ada': /--email: must be an email address/,
  'member create --workspace W --name Ada --email ada@x --role boss': /--role: must be one of admin, member/,
  'member update --workspace W': /missing required argument 'id'/,
  [`member create --workspace W --name ${'n'.repeat(191)} --email ${'e'.repeat(253)}@x`]:
    /--name: must have at most 190 characters; --email: must have at most 254 characters/,
  'member create --workspace W --name N --email @x': /--email: must have at least 3 characters/,
  [`workspace create --name ${'n'.repeat(191)}`]: /--name: must have at most 190 characters/,
  [`key create --workspace W --label ${'l'.repeat(191)}`]: /--label: must have at most 190 characters/,
  'key create --workspace W --expires-at tomorrow': /--expires-at: must be a date/,
  'import --workspace W campains file': /<kind>: must be one of campaigns, questions, tags, groups/,
  'import --workspace W campaigns': /missing required argument 'file'/,
  'import --workspace W tags file --import-id 1': /--import-id: must be a UUID/,
  'import --workspace W campaigns file --from-line -1': /--from-line: must be a whole number/,
  'import --workspace W campaigns file --from-line 1e3': /--from-line: must be a whole number/,
  'import --workspace W campaigns file --from-line 0': /--from-line: must be at least 1/,
};

suite('help', {
  'is printed on standard output at every level, with an example, and needs no settings': () =>
    each(textCases(...helpLevels), async (level) => {
      const words = level.split(' ').filter(Boolean);
      const { code, stdout, stderr } = await createCommandLine().run([...words, '--help']);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: advocacy ${level}.*\n\n[A-Z][^\n]*\\S`));
      assert.match(stdout, new RegExp(`\nExample:\n  advocacy ${level}`));
    }),

  'is also printed by the word `help` before or in the name of a command': () =>
    each(textCases('', 'member', 'import', 'key create', 'serve'), async (level) => {
      const words = level.split(' ').filter(Boolean);
      const byOption = await createCommandLine().run([...words, '--help']);
      const positions = level === 'key create' ? [0, 1] : [0];
      for (const i of positions)
        assert.deepEqual(await createCommandLine().run([...words.slice(0, i), 'help', ...words.slice(i)]), byOption);
      assert.deepEqual(await createCommandLine().run([...words, '-h']), byOption);
    }),

  'has each sentence of the description of the operation, without statuses': () =>
    each(
      operations.flatMap((operation) => (operation.command ? [[operation.command, operation] as const] : [])),
      async ({ description }, command) => {
        const { stdout } = await createCommandLine().run([...command.split(' '), '--help']);
        const text = stdout.replaceAll(/\s+/g, ' ');
        assert.doesNotMatch(text, /\([24]\d\d\b|request body/);
        // Names of fields become names of options.
        for (const sentence of description.filter((it) => !it.includes('`')))
          assert.ok(text.includes(sentence.replace(/ \(\d{3}[^)]*\)/g, '')), sentence);
      },
    ),

  'lists every command of a level': async () => {
    for (const { name } of commands) {
      const words = name.split(' ');
      const { stdout } = await createCommandLine().run([...words.slice(0, -1), '--help']);
      assert.match(stdout, new RegExp(`\n  ${words.at(-1)} `), name);
    }
  },

  'is as wide as the terminal, and not wider': async () => {
    const measureWidth = async (columns: number) => {
      const { stdout } = await createCommandLine().run(['member', 'create', '--help'], { stdout: { columns } });
      const [, options = ''] = stdout.split('Options:');
      return Math.max(...(options.split('Example:')[0] ?? '').split('\n').map((line) => line.length));
    };
    for (const columns of [80, 120]) assert.ok((await measureWidth(columns)) <= columns);
    assert.ok((await measureWidth(120)) > 80);
  },
});

suite('a usage error', {
  'is reported on standard error, with exit code 2, and with a suggestion if there is one': () =>
    each(usageErrors, async (message, line) => {
      const { code, stdout, stderr } = await createCommandLine().run(line.split(' '));
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
    }),

  'is reported together with all other invalid options': async () => {
    const args = ['member', 'create', '--workspace', 'W', '--name', ' ', '--email', 'ada'];
    const { stderr } = await createCommandLine().run(args);
    assert.match(stderr, /^error: --name: must not be blank; --email: must be an email/);
  },

  'is not a value that begins with a hyphen, if it is a number or follows an equals sign': async () => {
    for (const [name, ...args] of [
      ['--json', '--name=--json'],
      ['-5', '--name', '-5'],
      ['-', '--name', '-'],
    ] as const) {
      const { stdout } = await createCommandLine().run(['workspace', 'create', ...args, '--json']);
      assert.equal(JSON.parse(stdout).name, name);
    }
  },

  'can be an incomplete command, for which the help is printed': () =>
    each(textCases('', 'member', 'campaign'), async (line) => {
      const { code, stdout, stderr } = await createCommandLine().run(line.split(' ').filter(Boolean));
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^Usage: advocacy /);
    }),
});

suite('the version', {
  'is printed with --version': async () => {
    assert.deepEqual(await createCommandLine().run(['--version']), { code: 0, stdout: '1.2.3\n', stderr: '' });
  },
});
