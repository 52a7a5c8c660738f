import { Command as CommanderParser, Option } from 'commander';
import { replaceControlCharactersInLines } from '../logging/terminal-text.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import type { CommandLineEnvironment } from './environment.ts';
import { type CommandField, nameOptions, type Values } from './fields.ts';

/** Runs a parsed command. */
type Run = (command: Command, values: Values, isJson: boolean) => Promise<void>;

/** The width of the help in characters, if the output is not a terminal. */
const DEFAULT_HELP_WIDTH = 100;

const DESCRIPTION = `Manage workspaces, members, API keys, campaigns and all other records.

Commands read the same environment variables as the server, and use its database, also while it runs. They need STORAGE=sqlite (the default) or STORAGE=mongodb. docs/settings.md lists the settings, and docs/command-line.md is a guide.`;
const EXIT_CODES = `Exit codes:
  0    success
  1    a rule forbids the change, an ID is unknown, an import rejected lines, or a copy is incomplete
  2    usage error, invalid value or setting, or a file or the database cannot be used
  130  interrupted (Ctrl-C, SIGTERM, or an import whose output closes)`;

const SERVE = { name: 'serve', example: [] };

/** The maximum length of an example on one line. */
const MAX_EXAMPLE_LENGTH = 100;

/** A word that is more likely an option than a value: a hyphen and more, but not a negative number. */
const LOOKS_LIKE_OPTION = /^-(?!\d|$)/;

class Parser extends CommanderParser {
  /** Reports an unknown subcommand, with a suggestion. It is a private method of Commander. */
  declare unknownCommand: () => never;
  readonly booleanLabels = new Set<string>();

  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  /** Reads `--archived=false`, and rejects `--name --json`. Commander takes `--json` as the name. */
  override parseOptions(args: string[]) {
    const end = args.includes('--') ? args.indexOf('--') : args.length;
    const words = args.map((word, i) => (i < end ? this.replaceBooleanValue(word) : word));
    for (const [i, name] of words.slice(0, end).entries()) {
      const [option, value = ''] = [this.options.find((it) => it.long === name), words[i + 1]];
      if (option?.required && LOOKS_LIKE_OPTION.test(value)) {
        this.error(`error: ${name}: value missing. If it is '${value}', write '${name}=${value}'.`);
      }
    }
    return super.parseOptions(words);
  }

  private replaceBooleanValue(word: string): string {
    const [label = '', value] = word.split('=');
    if (value === undefined || !this.booleanLabels.has(label)) return word;
    if (value !== 'true' && value !== 'false') this.error(`error: ${label}: must be true or false`);
    return value === 'true' ? label : toNegation(label);
  }
}

function toNegation(label: string): string {
  return label.replace('--', '--no-');
}

/** Rejects `keey --help`. Commander ignores the unknown command. */
function rejectUnknownCommand({ command }: { readonly command: CommanderParser }): void {
  const [word = 'help'] = command.args;
  if (command.commands.length === 0 || word === 'help' || word.startsWith('-')) return;
  if (!command.commands.some((it) => it.name() === word)) (command as Parser).unknownCommand();
}

/** Returns the arguments with `--help` instead of the word `help`: `help key create`, `key help create`. */
export function replaceHelpCommand(args: readonly string[]): readonly string[] {
  const index = args.indexOf('help');
  const isHelp = index === 0 || (index === 1 && listSubcommands(args[0] as string).length > 0);
  return isHelp ? [...args.slice(0, index), ...args.slice(index + 1), '--help'] : args;
}

function listSubcommands(name: string): Command[] {
  return commands.filter((it) => it.name.startsWith(`${name} `));
}

/**
 * Returns the parser of a command line. Only the command that `args` name has its options and arguments, because
 * deriving those of all commands would take 100 ms.
 */
export function createProgram(environment: CommandLineEnvironment, args: readonly string[], run: Run): Parser {
  const { version, stdout, stderr, serve } = environment;
  const isNamed = ({ name }: Command) => `${args.join(' ')} `.startsWith(`${name} `);
  const named = commands
    .filter(isNamed)
    .reduce<Command | undefined>((a, b) => (a && a.name > b.name ? a : b), undefined);
  const addCommand = (parser: Parser, command: Command) => {
    if (command === named) configureCommand(parser, command, run);
    else parser.summary(command.summary);
  };
  const program = new Parser('advocacy').description(DESCRIPTION).version(version, '--version', 'Print the version.');
  program
    .configureHelp({ helpWidth: stdout.columns ?? DEFAULT_HELP_WIDTH })
    .configureOutput({
      writeOut: (text) => stdout.write(replaceControlCharactersInLines(text)),
      writeErr: (text) => stderr.write(replaceControlCharactersInLines(text)),
    })
    .exitOverride()
    .helpCommand('help [command]', 'Show the help of a command')
    .helpOption('-h, --help', 'Show the help.')
    .showSuggestionAfterError()
    .on('beforeAllHelp', rejectUnknownCommand);
  const example = formatExample({ name: 'workspace create', example: ['--name Northwind'] });
  program.addHelpText('after', `${example}\n\n${EXIT_CODES}`);
  for (const name of new Set(commands.map((it) => it.name.split(' ')[0] as string))) {
    const command = commands.find((it) => it.name === name);
    const subcommands = listSubcommands(name);
    const parser = program.command(name);
    if (command) addCommand(parser, command);
    else describeParent(parser, subcommands);
    for (const it of subcommands) addCommand(parser.command(it.name.slice(name.length + 1)), it);
  }
  describe(program.command('serve'), 'Start the server', ['It also works with STORAGE=memory.'], SERVE).action(serve);
  return program;
}

/** Adds the texts of the help to a parser, and returns the parser. */
function describe(parser: Parser, summary: string, details: readonly string[], command: Example): Parser {
  parser.summary(summary).description([`${summary}.`, ...details].join(' '));
  return parser.addHelpText('after', () => formatExample(command));
}

/** Describes a parser that only has subcommands. Its example is that of a subcommand which changes something. */
function describeParent(parser: Parser, subcommands: readonly Command[]): void {
  const verbs = subcommands.map((it) => it.name.split(' ')[1]).join(', ');
  const summary = verbs.charAt(0).toUpperCase() + verbs.slice(1);
  const command = subcommands.find(({ name }) => !name.endsWith(' list')) ?? (subcommands[0] as Command);
  describe(parser, summary, [], command);
}

type Example = Pick<Command, 'name' | 'example'>;

function formatExample({ name, example }: Example): string {
  const words = [`advocacy ${name}`, ...example];
  const isLong = words.join(' ').length > MAX_EXAMPLE_LENGTH;
  return `\nExample:\n  ${words.join(isLong ? ' \\\n    ' : ' ')}`;
}

function configureCommand(parser: Parser, command: Command, run: Run): void {
  const { fields } = command;
  describe(parser, command.summary, [nameOptions(command.details.join(' '), fields)], command);
  for (const field of fields) {
    if (isArgument(field)) parser.argument(field.label, field.description);
    else addOption(parser, field);
  }
  parser.option('--json', 'Print one JSON value, as the API returns it.');
  // Excess arguments of a command that has subcommands are probably a misspelled subcommand.
  parser.allowExcessArguments(listSubcommands(command.name).length > 0);
  parser.action(() => {
    if (parser.commands.length > 0 && parser.args.length > 0) parser.unknownCommand();
    const { json, ...options } = parser.opts();
    const arguments_ = fields.filter(isArgument).map(({ name }, i) => [name, parser.args[i]]);
    return run(command, { ...options, ...Object.fromEntries(arguments_) }, json === true);
  });
}

const isArgument = ({ label }: CommandField): boolean => label.startsWith('<');

/** Adds an option, which must not be given twice unless it is a list. */
function addOption(parser: Parser, { label, type, placeholder, description, isList }: CommandField): void {
  const option = new Option(type === 'boolean' ? label : `${label} <${placeholder}>`, description);
  parser.addOption(option);
  if (type === 'boolean') {
    parser.booleanLabels.add(label);
    return void parser.addOption(new Option(toNegation(label)).hideHelp());
  }
  let isGiven = false;
  option.argParser<readonly string[] | string>((value, previous) => {
    if (isList) return [...(previous ?? []), value];
    if (isGiven) parser.error(`error: ${label}: must not be given twice`);
    isGiven = true;
    return value;
  });
}
