import type { Readable } from 'node:stream';
import { CommanderError } from 'commander';
import { CoreError } from '../../core/shared/core-error.ts';
import { replaceControlCharactersInLines } from '../logging/terminal-text.ts';
import type { Command, CommandContext } from './command.ts';
import { Output, writeResult } from './output.ts';
import { createProgram, replaceHelpCommand } from './program.ts';
import { ProgressLine } from './progress.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** The application with its storage open. */
export interface OpenedApplication extends Omit<CommandContext, 'signal' | 'stdin' | 'progress'> {
  close(): Promise<void>;
}

/** The parts of a process that the command line uses. */
export interface CommandLineEnvironment {
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /**
   * Opens the configured storage. Rejects if the settings are invalid, or if the database is
   * unavailable, or is missing and the command must not create it.
   */
  openApplication(command: Command): Promise<OpenedApplication>;
  /** Starts the server. Rejects if the settings are invalid or the server cannot start. */
  serve(): Promise<void>;
  /** Calls `stop` on SIGINT (Ctrl-C) and SIGTERM, instead of ending the process. */
  onInterrupt(stop: () => void): void;
}

/**
 * The exit code of a usage error, and of every other failure that is not a `CoreError`, such as an unavailable
 * database.
 */
const USAGE_ERROR_EXIT_CODE = 2;
/** The width of the help in characters, if the output is not a terminal. */
const DEFAULT_HELP_WIDTH = 100;

/** Runs a command line. Resolves to its exit code. */
export async function runCommandLine(args: readonly string[], environment: CommandLineEnvironment): Promise<number> {
  const output = new Output(environment.stdout);
  const errorOutput = new Output(environment.stderr);
  const { stdout, stderr } = environment;
  let exitCode = 0;
  const program = createProgram(environment.version, {
    outputConfiguration: {
      writeOut: (text) => stdout.write(replaceControlCharactersInLines(text)),
      writeErr: (text) => stderr.write(replaceControlCharactersInLines(text)),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_HELP_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_HELP_WIDTH,
    },
    async run(command, values, isJson) {
      exitCode = await runCommand(command, values, isJson, environment, output, errorOutput);
    },
    serve: () => environment.serve(),
  });
  try {
    await program.parseAsync(replaceHelpCommand(args), { from: 'user' });
  } catch (error) {
    exitCode = await reportError(error, errorOutput);
  }
  await output.flush();
  if (output.writeError === undefined) return exitCode;
  await errorOutput.write(`error: the output could not be written: ${output.writeError}\n`);
  return USAGE_ERROR_EXIT_CODE;
}

/** Writes the error that ended a command line, unless the parser has already written it. Resolves to the exit code. */
async function reportError(error: unknown, errorOutput: Output): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR_EXIT_CODE;
  for (const line of (error as Error).message.split('\n')) await errorOutput.write(`error: ${line}\n`);
  return error instanceof CoreError ? 1 : USAGE_ERROR_EXIT_CODE;
}

async function runCommand(
  command: Command,
  values: Readonly<Record<string, unknown>>,
  isJson: boolean,
  environment: CommandLineEnvironment,
  output: Output,
  errorOutput: Output,
): Promise<number> {
  const { close, ...application } = await environment.openApplication(command);
  try {
    const abortController = new AbortController();
    output.closedSignal.addEventListener('abort', () => abortController.abort());
    if (command.handlesInterrupt) environment.onInterrupt(() => abortController.abort());
    const progress = new ProgressLine(environment.stderr);
    const context = { ...application, signal: abortController.signal, stdin: environment.stdin, progress };
    if (typeof values.workspaceId === 'string') await application.app.workspaces.get(values.workspaceId);
    const result = await writeResult(await command.run(context, values), isJson, output);
    await output.flush();
    // If standard output is closed, the final message is written to standard error instead.
    if (result && output.closedSignal.aborted) await errorOutput.write(`${result.message}\n`);
    if (result?.warning) await errorOutput.write(`warning: ${result.warning}\n`);
    if (result?.error) await errorOutput.write(`error: ${result.error}\n`);
    return result?.exitCode ?? 0;
  } finally {
    await close();
  }
}
