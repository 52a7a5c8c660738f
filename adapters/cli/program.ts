import { Argument, Option, type OutputConfiguration, Command as Parser } from 'commander';
import { z } from 'zod';
import { CoreError } from '../../core/shared/core-error.ts';
import { parse } from '../api/parse.ts';
import type { Command, Parameter } from './command.ts';
import { commands, groups, serveCommand } from './commands.ts';
import { UsageError } from './usage-error.ts';

/** Where the parser writes, and what follows on a command line that was understood. */
export interface Actions {
  readonly writing: OutputConfiguration;
  run(command: Command, given: Readonly<Record<string, unknown>>, json: boolean): Promise<void>;
  serve(): Promise<void>;
}

const ABOUT = `What the API does not offer: workspaces, members, keys, content pillars, verified domains, published
campaigns, shares and clicks. On the settings of the server, over its MongoDB: STORAGE=mongodb and MONGODB_URI.`;
const EXIT_CODES = `Exit code 0: done; 1: a rule refused it, or nothing has that id; 2: wrong usage or settings, or a database that
cannot be reached; 130: stopped by Ctrl-C.`;

/** The parser of the command line, with the help of every level. */
export function parserOf(version: string, actions: Actions): Parser {
  const program = new Parser('advocacy').description(ABOUT).version(version, '--version', 'tell the version');
  program
    .configureOutput(actions.writing)
    .exitOverride()
    .helpCommand('help [command]', 'explain a command')
    .helpOption('-h, --help', 'explain a command')
    .showSuggestionAfterError();
  program.addHelpText('after', `\n${EXIT_CODES}${exampleOf('workspace create --name Northwind')}`);
  const parents = new Map<string, Parser>();
  for (const [name, { does, example }] of Object.entries(groups)) {
    parents.set(name, program.command(name).description(does).addHelpText('after', exampleOf(example)));
  }
  for (const command of commands) {
    const words = command.name.split(' ');
    const parent = words.length > 1 ? (parents.get(words[0] as string) as Parser) : program;
    add(parent.command(words.at(-1) as string), command, actions);
  }
  const { name, does, more, example } = serveCommand;
  program
    .command(name)
    .summary(does)
    .description(`${sentence(does)} ${more}`)
    .addHelpText('after', exampleOf(example))
    .action(() => actions.serve());
  return program;
}

function add(parser: Parser, command: Command, actions: Actions): void {
  const { does, more, example, parameters } = command;
  parser.summary(does).description([sentence(does), more].filter(Boolean).join(' '));
  for (const parameter of Object.values(parameters)) {
    if (isArgument(parameter)) parser.addArgument(argumentOf(parameter));
    else addOptions(parser, parameter);
  }
  parser.option('--json', 'answer with one JSON value');
  parser.addHelpText('after', exampleOf(example));
  parser.action(async () => {
    const positions = Object.values(parameters).filter(isArgument);
    const options = parser.opts();
    const givenFor = (parameter: Parameter) =>
      isArgument(parameter)
        ? parser.args[positions.indexOf(parameter)]
        : options[new Option(parameter.written).attributeName()];
    await actions.run(command, checked(command, givenFor), options.json === true);
  });
}

/** Adds the options of a parameter. Twice the same, where it does not repeat, and its `--no-…` beside it, are refused. */
function addOptions(parser: Parser, parameter: Parameter): void {
  let before: Option | undefined;
  for (const option of optionsOf(parameter)) {
    parser.addOption(option);
    parser.on(`option:${option.name()}`, () => {
      const problem = before === option ? 'given twice' : `used with option '${before?.flags}'`;
      const isFine = before === undefined || (before === option && parameter.repeats);
      if (!isFine) parser.error(`error: option '${option.flags}' cannot be ${problem}`);
      before = option;
    });
  }
}

function isArgument({ written }: Parameter): boolean {
  return written.startsWith('<');
}

function argumentOf({ written, means, schema }: Parameter): Argument {
  const argument = new Argument(written, means);
  const choices = choicesOf(schema);
  return choices ? argument.choices(choices) : argument;
}

function optionsOf(parameter: Parameter): Option[] {
  const { written, means, schema, repeats, clears } = parameter;
  const option = new Option(written, means);
  const choices = choicesOf(schema);
  if (choices) option.choices(choices);
  if (repeats) option.argParser((value, before: readonly string[] | undefined) => [...(before || []), value] as never);
  const preset = schema.safeParse(undefined);
  if (!preset.success) option.makeOptionMandatory();
  else if (typeof preset.data === 'number' || (choices && preset.data !== undefined))
    option.default(String(preset.data));
  const clearing = clears === undefined ? [] : [new Option(option.long?.replace('--', '--no-') ?? '', clears)];
  return [option, ...clearing];
}

/** The values of an enumeration, which may have a default or be left out. */
function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return choicesOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodEnum ? (schema.options as string[]) : undefined;
}

/** What was given, validated; throws a `Misuse` that names every fault by the option or argument that has it. */
function checked(
  { parameters }: Command,
  givenFor: (parameter: Parameter) => unknown,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(parameters);
  const labels = new Map(entries.map(([name, { written }]) => [name, written.split(' ')[0] as string]));
  const byLabel = <T>(of: (parameter: Parameter) => T) =>
    Object.fromEntries(entries.map(([name, parameter]) => [labels.get(name) as string, of(parameter)]));
  const values = byLabel((parameter) => {
    const value = givenFor(parameter);
    return value === false && parameter.clears !== undefined ? [] : value;
  });
  try {
    const valid: Readonly<Record<string, unknown>> = parse(z.strictObject(byLabel(({ schema }) => schema)), values);
    return Object.fromEntries(entries.map(([name]) => [name, valid[labels.get(name) as string]]));
  } catch (error) {
    if (error instanceof CoreError) throw new UsageError([error.message]);
    throw error;
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function exampleOf(example: string): string {
  return `\nExample:\n  advocacy ${example}`;
}
