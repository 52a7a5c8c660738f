import { CommanderError } from 'commander';
import { CoreError, createInvalidFieldsError, type FieldError } from '../../core/shared/core-error.ts';
import type { Command } from './command.ts';
import type { CommandLineEnvironment } from './environment.ts';
import type { Values } from './fields.ts';
import { Output, writeResult } from './output.ts';
import { createProgram, replaceHelpCommand } from './program.ts';
import { ProgressLine } from './progress.ts';

/**
 * The exit code of a usage error, and of every other failure that is not a rule of the core, such as an unavailable
 * database.
 */
const USAGE_ERROR_EXIT_CODE = 2;
/** Runs a command line. Resolves to its exit code. */
export async function runCommandLine(args: readonly string[], environment: CommandLineEnvironment): Promise<number> {
  const output = new Output(environment.stdout);
  const errorOutput = new Output(environment.stderr);
  let exitCode = 0;
  const words = replaceHelpCommand(args);
  const program = createProgram(environment, words, async (command, values, isJson) => {
    const run = runCommand(command, values, isJson, environment, output, errorOutput);
    exitCode = await run.catch((error) => {
      throw renameFields(error, command, values);
    });
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    exitCode = await reportError(error, errorOutput);
  }
  await output.flush();
  if (output.writeError === undefined) return exitCode;
  await errorOutput.write(`error: the output could not be written: ${output.writeError}\n`);
  return USAGE_ERROR_EXIT_CODE;
}

/** Names the fields of an `invalid` error as the options were typed: `--expires-at` instead of `expiresAt`. */
function renameFields(error: unknown, { fields }: Command, values: Values): unknown {
  if (!(error instanceof CoreError)) return error;
  if (error.causeName === 'not_admin')
    return new CoreError('forbidden', error.message.replace(/[^.]+\.$/, ' Omit --as, or choose an admin.'));
  if (error.fields.length === 0) return error;
  const labels = new Map(fields.map(({ name, label }) => [name, label]));
  const rename = ({ path, problem }: FieldError): FieldError => {
    const [name = '', position] = path.split('.');
    const label = labels.get(name);
    if (label === undefined || (values[name] === undefined && values.data !== undefined))
      return { path: values.data === undefined ? path : `--data: ${path}`, problem };
    const isOneOfSeveral = position !== undefined && `${values[name]}`.includes(',');
    const suffix = isOneOfSeveral ? ` (value ${Number(position) + 1})` : '';
    return { path: label, problem: problem.replace(/\b[a-z]+[A-Z]\w*/g, (word) => labels.get(word) ?? word) + suffix };
  };
  return createInvalidFieldsError(error.fields.map(rename));
}

/** Writes the error that ended a command line, unless the parser has already written it. Resolves to the exit code. */
async function reportError(error: unknown, errorOutput: Output): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR_EXIT_CODE;
  for (const line of (error as Error).message.split('\n')) await errorOutput.write(`error: ${line}\n`);
  return error instanceof CoreError && error.kind !== 'invalid' ? 1 : USAGE_ERROR_EXIT_CODE;
}

async function runCommand(
  command: Command,
  values: Values,
  isJson: boolean,
  environment: CommandLineEnvironment,
  output: Output,
  errorOutput: Output,
): Promise<number> {
  const run = await command.prepare(values, environment.stdin);
  const { close, ...application } = await environment.openApplication(command);
  try {
    const abortController = new AbortController();
    output.closedSignal.addEventListener('abort', () => abortController.abort());
    if (command.handlesInterrupt) environment.onInterrupt(() => abortController.abort());
    const progress = new ProgressLine(environment.stderr);
    const context = { ...application, signal: abortController.signal, stdin: environment.stdin, progress };
    const commandResult = await run(context).finally(() => progress.clear());
    const result = await writeResult(commandResult, isJson, output);
    await output.flush();
    // If standard output is closed, the final message is written to standard error instead.
    if (result && output.closedSignal.aborted) await errorOutput.write(`${result.message}\n`);
    if (!isJson && 'hint' in commandResult && commandResult.hint) await errorOutput.write(`${commandResult.hint}\n`);
    if (result?.warning) await errorOutput.write(`warning: ${result.warning}\n`);
    if (result?.error) await errorOutput.write(`error: ${result.error}\n`);
    if (result?.written) application.logWrite(command.name, result.written);
    return result?.exitCode ?? 0;
  } finally {
    await close();
  }
}
