import { Argument, Command as CommanderParser, Option, type OutputConfiguration } from 'commander';
import { z } from 'zod';
import { CoreError } from '../../core/shared/core-error.ts';
import { parse } from '../api/parse.ts';
import type { Command, Parameter } from './command.ts';
import { commands, parentCommands, serveCommand } from './commands.ts';
import { UsageError } from './usage-error.ts';

/** The output of the parser, and the functions that run the parsed command line. */
export interface Actions {
  readonly outputConfiguration: OutputConfiguration;
  run(command: Command, values: Readonly<Record<string, unknown>>, isJson: boolean): Promise<void>;
  serve(): Promise<void>;
}

const DESCRIPTION = `Manage workspaces, members, API keys, content pillars, domains, campaigns and shares.

Commands read the same environment variables as the server, and use its database, also while it runs. They need STORAGE=sqlite (the default) or STORAGE=mongodb.`;
const EXIT_CODES = `Exit codes:
  0    success
  1    a rule forbids the change, an ID is unknown, an import rejected lines, or a copy is incomplete
  2    usage error, invalid settings, or a file or the database cannot be used
  130  import or copy was interrupted (Ctrl-C, SIGTERM, or a closed output)`;

const DOCUMENTATION = `Documentation:
  README.md             settings (section Configuration)
  docs/command-line.md  guide with examples`;

/** A word that is more likely an option than a value: a hyphen and more, but not a negative number. */
const LOOKS_LIKE_OPTION = /^-(?!\d|$)/;

class Parser extends CommanderParser {
  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  /** Rejects `--name --json`. Commander takes `--json` as the name. */
  override parseOptions(args: string[]) {
    const end = args.includes('--') ? args.indexOf('--') : args.length;
    for (const [i, name] of args.slice(0, end).entries()) {
      const [option, value = ''] = [this.options.find((it) => it.long === name), args[i + 1]];
      if (option?.required && LOOKS_LIKE_OPTION.test(value)) {
        this.error(`error: option '${option.flags}' argument missing. If it is '${value}', write '${name}=${value}'.`);
      }
    }
    return super.parseOptions(args);
  }
}

/** Rejects `keey --help`. Commander ignores the unknown command. */
function rejectUnknownCommand({ command }: { readonly command: CommanderParser }): void {
  const [word = 'help'] = command.args;
  if (command.commands.length > 0 && word !== 'help' && !word.startsWith('-')) command.parse([word], { from: 'user' });
}

/**
 * Returns the arguments with `--help` instead of the word `help`: `help key create`, `key help create`, `key create
 * help`.
 */
export function replaceHelpCommand(args: readonly string[]): readonly string[] {
  const index = args.indexOf('help');
  const path = args.slice(0, index).join(' ');
  const takesNoArgument = commands.some((it) => it.name === path && !Object.values(it.parameters).some(isArgument));
  const isHelp = index === 0 || (index > 0 && (path in parentCommands || takesNoArgument));
  return isHelp ? [...args.slice(0, index), ...args.slice(index + 1), '--help'] : args;
}

/** Returns the parser of the command line, including the help texts of all commands. */
export function createProgram(version: string, actions: Actions): Parser {
  const program = new Parser('advocacy').description(DESCRIPTION).version(version, '--version', 'print the version');
  program
    .configureOutput(actions.outputConfiguration)
    .exitOverride()
    .helpCommand('help [command]', 'show help for a command')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError()
    .on('beforeAllHelp', rejectUnknownCommand);
  program.addHelpText(
    'after',
    `${formatExample('workspace create --name Northwind')}\n\n${EXIT_CODES}\n\n${DOCUMENTATION}`,
  );
  for (const [name, summary] of Object.entries(parentCommands)) {
    const subcommands = commands.filter((command) => command.name.startsWith(`${name} `));
    const parentParser = program.command(name);
    // The help of a parent command shows the example of its first subcommand other than `list`, or of `list` if it is
    // the only one.
    const { example } = subcommands.find((command) => !command.name.endsWith(' list')) ?? (subcommands[0] as Command);
    describe(parentParser, { summary, example });
    for (const command of subcommands)
      configureCommand(parentParser.command(command.name.slice(name.length + 1)), command, actions);
  }
  for (const command of commands) {
    if (!command.name.includes(' ')) configureCommand(program.command(command.name), command, actions);
  }
  describe(program.command(serveCommand.name), serveCommand).action(() => actions.serve());
  return program;
}

/** Adds the texts of the help to a parser, and returns the parser. */
function describe(
  parser: Parser,
  { summary, details, example }: Pick<Command, 'summary' | 'details' | 'example'>,
): Parser {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const description = details ? `${sentence} ${details}` : sentence;
  return parser.summary(summary).description(description).addHelpText('after', formatExample(example));
}

function configureCommand(parser: Parser, command: Command, actions: Actions): void {
  const { parameters } = command;
  describe(parser, command);
  for (const parameter of Object.values(parameters)) {
    if (isArgument(parameter)) parser.addArgument(createArgument(parameter));
    else addOption(parser, parameter);
  }
  parser.option('--json', 'print one JSON value');
  parser.action(async () => {
    const positions = Object.values(parameters).filter(isArgument);
    const options = parser.opts();
    const getValue = (parameter: Parameter) => {
      if (isArgument(parameter)) return parser.args[positions.indexOf(parameter)];
      return options[new Option(parameter.syntax).attributeName()];
    };
    await actions.run(command, validateValues(command, getValue), options.json === true);
  });
}

/** Adds an option, which must not be given twice unless it is repeatable. */
function addOption(parser: Parser, parameter: Parameter): void {
  const option = createOption(parameter);
  let isGiven = false;
  parser.addOption(option).on(`option:${option.name()}`, () => {
    if (isGiven && !parameter.isRepeatable) parser.error(`error: option '${option.flags}' cannot be given twice`);
    isGiven = true;
  });
}

function isArgument({ syntax }: Parameter): boolean {
  return syntax.startsWith('<');
}

function createArgument({ syntax, description, schema }: Parameter): Argument {
  const argument = new Argument(syntax, description);
  const choices = getChoices(schema);
  return choices ? argument.choices(choices) : argument;
}

function createOption({ syntax, description, schema, isRepeatable }: Parameter): Option {
  const defaultResult = schema.safeParse(undefined);
  const option = new Option(syntax, defaultResult.success ? description : `${description} (required)`);
  const choices = getChoices(schema);
  if (choices) option.choices(choices);
  if (isRepeatable)
    option.argParser((value, previous: readonly string[] | undefined) => [...(previous || []), value] as never);
  if (!defaultResult.success) option.makeOptionMandatory();
  // Without the second argument, the help would show the default in quotes.
  else if (typeof defaultResult.data === 'number') option.default(`${defaultResult.data}`, `${defaultResult.data}`);
  else if (choices && defaultResult.data !== undefined) option.default(defaultResult.data);
  return option;
}

/**
 * Returns the values of an enumeration, or `undefined` for other schemas. The enumeration can be optional or have a
 * default.
 */
function getChoices(schema: z.ZodType): readonly string[] | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return getChoices(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodEnum ? (schema.options as string[]) : undefined;
}

/** Returns the validated values of a command. Throws a `UsageError` that names each invalid option or argument. */
function validateValues(
  { parameters }: Command,
  getValue: (parameter: Parameter) => unknown,
): Readonly<Record<string, unknown>> {
  // The values are validated under the labels of their parameters, such as `--name`, because the error shows these.
  const entries = Object.entries(parameters).map(
    ([name, it]) => [name, it.syntax.split(' ')[0] as string, it] as const,
  );
  const schema = z.strictObject(Object.fromEntries(entries.map(([, label, it]) => [label, it.schema])));
  const values = Object.fromEntries(entries.map(([, label, it]) => [label, getValue(it)]));
  try {
    const valid: Readonly<Record<string, unknown>> = parse(schema, values);
    return Object.fromEntries(entries.map(([name, label]) => [name, valid[label]]));
  } catch (error) {
    if (error instanceof CoreError) throw new UsageError([error.message]);
    throw error;
  }
}

function formatExample(example: string): string {
  return `\nExample:\n  advocacy ${example}`;
}
