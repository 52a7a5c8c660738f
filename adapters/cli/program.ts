import { Argument, Option, type OutputConfiguration, Command as Parser } from 'commander';
import { z } from 'zod';
import { CoreError } from '../../core/shared/core-error.ts';
import { parse } from '../api/parse.ts';
import type { Command, Parameter } from './command.ts';
import { commandGroups, commands, serveCommand } from './commands.ts';
import { UsageError } from './usage-error.ts';

/** The output of the parser, and the functions that run the parsed command line. */
export interface Actions {
  readonly outputConfiguration: OutputConfiguration;
  run(command: Command, values: Readonly<Record<string, unknown>>, isJson: boolean): Promise<void>;
  serve(): Promise<void>;
}

const DESCRIPTION = `Manage workspaces, members, API keys, content pillars, domains, campaigns, shares and clicks.

Commands read the settings of the server from the environment. They need STORAGE=mongodb and MONGODB_URI.`;
const EXIT_CODES = `Exit codes:
  0    success
  1    a rule forbids the change, an ID is unknown, or an import rejected lines
  2    usage error, invalid settings, or the database is unavailable
  130  interrupted by Ctrl-C`;

/** Returns the parser of the command line, with the help of every command. */
export function createProgram(version: string, actions: Actions): Parser {
  const program = new Parser('advocacy').description(DESCRIPTION).version(version, '--version', 'print the version');
  program
    .configureOutput(actions.outputConfiguration)
    .exitOverride()
    .helpCommand('help [command]', 'show help for a command')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError();
  program.addHelpText('after', `${formatExample('workspace create --name Northwind')}\n\n${EXIT_CODES}`);
  const parents = new Map<string, Parser>();
  for (const [name, { summary, example }] of Object.entries(commandGroups)) {
    const parent = program.command(name).summary(summary).description(toSentence(summary));
    parents.set(name, parent.addHelpText('after', formatExample(example)));
  }
  for (const command of commands) {
    const words = command.name.split(' ');
    const parent = words.length > 1 ? (parents.get(words[0] as string) as Parser) : program;
    configureCommand(parent.command(words.at(-1) as string), command, actions);
  }
  const { name, summary, details, example } = serveCommand;
  program
    .command(name)
    .summary(summary)
    .description(formatDescription(summary, details))
    .addHelpText('after', formatExample(example))
    .action(() => actions.serve());
  return program;
}

function configureCommand(parser: Parser, command: Command, actions: Actions): void {
  const { summary, details, example, parameters } = command;
  parser.summary(summary).description(formatDescription(summary, details));
  for (const parameter of Object.values(parameters)) {
    if (isArgument(parameter)) parser.addArgument(createArgument(parameter));
    else addOptions(parser, parameter);
  }
  parser.option('--json', 'print one JSON value');
  parser.addHelpText('after', formatExample(example));
  parser.action(async () => {
    const positions = Object.values(parameters).filter(isArgument);
    const options = parser.opts();
    const getValue = (parameter: Parameter) =>
      isArgument(parameter)
        ? parser.args[positions.indexOf(parameter)]
        : options[new Option(parameter.syntax).attributeName()];
    await actions.run(command, validateValues(command, getValue), options.json === true);
  });
}

/** Adds the options of a parameter. Rejects an option that is repeated but not repeatable, or used with its `--no-…`. */
function addOptions(parser: Parser, parameter: Parameter): void {
  let previousOption: Option | undefined;
  for (const option of createOptions(parameter)) {
    parser.addOption(option);
    parser.on(`option:${option.name()}`, () => {
      const problem = previousOption === option ? 'given twice' : `used with option '${previousOption?.flags}'`;
      const isAllowed = previousOption === undefined || (previousOption === option && parameter.isRepeatable);
      if (!isAllowed) parser.error(`error: option '${option.flags}' cannot be ${problem}`);
      previousOption = option;
    });
  }
}

function isArgument({ syntax }: Parameter): boolean {
  return syntax.startsWith('<');
}

function createArgument({ syntax, description, schema }: Parameter): Argument {
  const argument = new Argument(syntax, description);
  const choices = getChoices(schema);
  return choices ? argument.choices(choices) : argument;
}

function createOptions({ syntax, description, schema, isRepeatable, negatedOptionDescription }: Parameter): Option[] {
  const defaultResult = schema.safeParse(undefined);
  const option = new Option(syntax, defaultResult.success ? description : `${description} (required)`);
  const choices = getChoices(schema);
  if (choices) option.choices(choices);
  if (isRepeatable)
    option.argParser((value, previous: readonly string[] | undefined) => [...(previous || []), value] as never);
  if (!defaultResult.success) option.makeOptionMandatory();
  else if (typeof defaultResult.data === 'number' || (choices && defaultResult.data !== undefined))
    option.default(String(defaultResult.data));
  if (negatedOptionDescription === undefined) return [option];
  return [option, new Option(option.long?.replace('--', '--no-') ?? '', negatedOptionDescription)];
}

/** Returns the values of an enumeration, or `undefined` for other schemas. The enumeration can be optional or have a default. */
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
  const entries = Object.entries(parameters);
  const labels = new Map(entries.map(([name, { syntax }]) => [name, syntax.split(' ')[0] as string]));
  const mapByLabel = <T>(map: (parameter: Parameter) => T) =>
    Object.fromEntries(entries.map(([name, parameter]) => [labels.get(name) as string, map(parameter)]));
  const values = mapByLabel((parameter) => {
    const value = getValue(parameter);
    return value === false && parameter.negatedOptionDescription !== undefined ? [] : value;
  });
  try {
    const valid: Readonly<Record<string, unknown>> = parse(z.strictObject(mapByLabel(({ schema }) => schema)), values);
    return Object.fromEntries(entries.map(([name]) => [name, valid[labels.get(name) as string]]));
  } catch (error) {
    if (error instanceof CoreError) throw new UsageError([error.message]);
    throw error;
  }
}

function formatDescription(summary: string, details: string): string {
  return [toSentence(summary), details].filter(Boolean).join(' ');
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function formatExample(example: string): string {
  return `\nExample:\n  advocacy ${example}`;
}
