import assert from 'node:assert/strict';
import { commands, groups } from '../../adapters/cli/commands.ts';
import { commandLine } from '../support/command-line.ts';
import { each, texts } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const levels = ['', ...Object.keys(groups), ...commands.map(({ name }) => name), 'serve'];

/** What is no usage, and what is said of it. */
const wrong: Readonly<Record<string, RegExp>> = {
  'workspce list': /unknown command 'workspce'\n\(Did you mean workspace\?\)/,
  'workspace lst': /unknown command 'lst'\n\(Did you mean list\?\)/,
  'workspace list --jso': /unknown option '--jso'\n\(Did you mean --json\?\)/,
  'workspace create': /required option '--name <name>' not specified/,
  'workspace create --name': /argument missing/,
  'workspace create --name A --name B': /option '--name <name>' cannot be given twice/,
  'member update --workspace W M --group G --no-group': /'--no-group' cannot be used with option '--group <id>'/,
  'member update --workspace W M --no-group --group G': /'--group <id>' cannot be used with option '--no-group'/,
  'workspace list more': /too many arguments/,
  'member create --workspace W --name Ada --email ada': /--email: must be an email address/,
  'member create --workspace W --name Ada --email ada@x --role boss': /Allowed choices are admin, member/,
  'member update --workspace W': /missing required argument 'member'/,
  'key create --workspace W --expires-at tomorrow': /--expires-at: must be a date/,
  'pillar create --workspace W --author M --title T --color pink': /Allowed choices are red, yellow/,
  'campaign set-status --workspace W C lost': /Allowed choices are draft, published, archived/,
  'click record --workspace W --campaign C --count 0': /--count: must be at least 1/,
  'click record --workspace W --campaign C --count 1e3': /--count: must be a whole number, digits only/,
  'click record --workspace W --campaign C --count 1000000001': /--count: must be at most 1000000000/,
  'import --workspace W campains file': /Allowed choices are campaigns, questions, tags, groups/,
  'import --workspace W campaigns': /missing required argument 'file'/,
  'import --workspace W campaigns file --from-line 0': /--from-line: must be at least 1/,
  'seed --campaigns 0': /--campaigns: must be at least 1/,
};

suite('help', {
  'explains every level on standard output, with an example of it, and needs no settings': () =>
    each(texts(...levels), async (level) => {
      const words = level.split(' ').filter(Boolean);
      const { code, stdout, stderr } = await commandLine().run([...words, '--help']);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: advocacy ${level}.*\n\n[A-Z][^\n]*\\S`));
      assert.match(stdout, new RegExp(`\nExample:\n  advocacy ${level}`));
    }),

  'is asked for by the word, too': () =>
    each(texts('', 'member', 'seed'), async (word) => {
      const byOption = await commandLine().run([word, '--help'].filter(Boolean));
      assert.deepEqual(await commandLine().run(['help', word].filter(Boolean)), byOption);
    }),

  'names every command of a level': async () => {
    for (const { name } of commands) {
      const words = name.split(' ');
      const { stdout } = await commandLine().run([...words.slice(0, -1), '--help']);
      assert.match(stdout, new RegExp(`\n  ${words.at(-1)} `), name);
    }
  },

  'is as wide as the terminal, and never wider than what is asked of it': async () => {
    const widest = async (columns: number) => {
      const { stdout } = await commandLine().run(['member', 'create', '--help'], { stdout: { columns } });
      const [, options = ''] = stdout.split('Options:');
      return Math.max(...(options.split('Example:')[0] ?? '').split('\n').map((line) => line.length));
    };
    for (const columns of [80, 120]) assert.ok((await widest(columns)) <= columns);
    assert.ok((await widest(120)) > 80);
  },
});

suite('wrong usage', {
  'is told on standard error, with what was likely meant, and ends with 2': () =>
    each(wrong, async (says, line) => {
      const { code, stdout, stderr } = await commandLine().run(line.split(' '));
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, says);
    }),

  'names everything that is wrong at once': async () => {
    const args = ['member', 'create', '--workspace', 'W', '--name', ' ', '--email', 'ada'];
    const { stderr } = await commandLine().run(args);
    assert.match(stderr, /^error: --name: must not be blank; --email: must be an email/);
  },

  'is a command that is not said to its end: then its help is told': () =>
    each(texts('', 'member', 'campaign'), async (line) => {
      const { code, stdout, stderr } = await commandLine().run(line.split(' ').filter(Boolean));
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^Usage: advocacy /);
    }),
});

suite('the version', {
  'is that of the package': async () => {
    assert.deepEqual(await commandLine().run(['--version']), { code: 0, stdout: '1.2.3\n', stderr: '' });
  },
});
