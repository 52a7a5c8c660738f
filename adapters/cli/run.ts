import type { Readable } from 'node:stream';
import { CommanderError } from 'commander';
import type { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Command, Session } from './command.ts';
import { Output, show } from './output.ts';
import { parserOf } from './program.ts';
import { ProgressLine, type Terminal } from './progress.ts';
import { printable } from './terminal-text.ts';
import { UsageError } from './usage-error.ts';

/** The product, open on its storage. */
export interface Opened {
  readonly app: Application;
  /** The largest body that the API takes, in bytes. */
  readonly bodyLimit: number;
  now(): number;
  newId(): string;
  close(): Promise<void>;
}

/** What the command line needs of the process that it runs in. */
export interface Environment {
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens the storage of the settings; throws a `Misuse` where there is nothing to act on. */
  open(): Promise<Opened>;
  /** Serves until it is told to stop; throws a `Misuse` where it cannot. */
  serve(): Promise<void>;
  /** Has `stop` called when the operator interrupts, instead of ending the process. */
  onInterrupt(stop: () => void): void;
}

const WRONG_USAGE = 2;
/** Of help, where no terminal has one. */
const WIDTH = 100;

/** Runs one command line, and resolves to its exit code. */
export async function runCommandLine(args: readonly string[], around: Environment): Promise<number> {
  const hasColors = (stream: Terminal) =>
    Boolean(stream.isTTY && !around.env.NO_COLOR && (stream.hasColors?.() ?? false));
  const output = new Output(around.stdout, hasColors(around.stdout));
  const errors = new Output(around.stderr, hasColors(around.stderr));
  const { stdout, stderr } = around;
  let exitCode = 0;
  const parser = parserOf(around.version, {
    writing: {
      writeOut: (text) => stdout.write(printable(text)),
      writeErr: (text) => stderr.write(printable(text)),
      getOutHelpWidth: () => stdout.columns ?? WIDTH,
      getErrHelpWidth: () => stderr.columns ?? WIDTH,
    },
    async run(command, given, json) {
      exitCode = await perform(command, given, json, around, output, errors);
    },
    serve: () => around.serve(),
  });
  try {
    await parser.parseAsync(args, { from: 'user' });
  } catch (error) {
    exitCode = await refuse(error, errors);
  }
  await output.flushed();
  if (output.problem === undefined) return exitCode;
  await errors.write(`error: the answer could not be written: ${output.problem}\n`);
  return WRONG_USAGE;
}

/** Tells why a command line is not done; resolves to its exit code. */
async function refuse(error: unknown, errors: Output): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  const lines = error instanceof UsageError ? error.lines : [(error as Error).message];
  for (const line of lines) await errors.write(`error: ${line}\n`);
  return error instanceof CoreError ? 1 : WRONG_USAGE;
}

async function perform(
  command: Command,
  given: Readonly<Record<string, unknown>>,
  json: boolean,
  around: Environment,
  output: Output,
  errors: Output,
): Promise<number> {
  const { app, bodyLimit, now, newId, close } = await around.open();
  try {
    const stop = new AbortController();
    output.closed.addEventListener('abort', () => stop.abort());
    if (command.endsItself) around.onInterrupt(() => stop.abort());
    const progress = new ProgressLine(around.stderr);
    const session: Session = { app, bodyLimit, now, newId, stop: stop.signal, stdin: around.stdin, progress };
    if (typeof given.workspaceId === 'string') await app.workspaces.get(given.workspaceId);
    const told = await show(await command.run(session, given), json, output);
    await output.flushed();
    if (told && output.closed.aborted) await errors.write(`${told.says}\n`);
    if (told?.warning) await errors.write(`warning: ${told.warning}\n`);
    if (told?.error) await errors.write(`error: ${told.error}\n`);
    return told?.exitCode ?? 0;
  } finally {
    await close();
  }
}
