import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { v7 } from 'uuid';
import type { Command } from '../../adapters/cli/command.ts';
import type { CommandLineEnvironment, OpenedApplication } from '../../adapters/cli/environment.ts';
import { runCommandLine } from '../../adapters/cli/run-command-line.ts';
import type { StorageTools } from '../../adapters/cli/storage-tools.ts';
import type { TerminalStream } from '../../adapters/cli/terminal-stream.ts';
import { openApplication } from '../../bootstrap/open-application.ts';
import type { Application } from '../../core/application.ts';
import type { System } from '../../core/shared/system.ts';
import { type TestCore, testCore } from './core.ts';

/** The exit code and the output of a command. */
export interface CommandOutput {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the JSON that a command printed. Throws if it printed anything else or failed. */
// biome-ignore lint/suspicious/noExplicitAny: tests know the fields
export function parseJsonOutput({ code, stdout, stderr }: CommandOutput): any {
  if (code !== 0) throw new Error(`exited with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Checks the exit code of a command. If it differs, the error shows what the command wrote to standard error. */
export function assertExitCode({ code, stderr }: CommandOutput, expected: number): void {
  assert.equal(code, expected, `exited with ${code} instead of ${expected}: ${stderr}`);
}

/** The streams and settings of a command. */
export interface RunOptions {
  readonly stdin?: Readable | Iterable<string | Uint8Array> | AsyncIterable<Uint8Array>;
  readonly stdout?: Partial<TerminalStream>;
  readonly stderr?: Partial<TerminalStream>;
  /** Called with a function that interrupts the command, as Ctrl-C does. */
  readonly onInterrupt?: CommandLineEnvironment['onInterrupt'];
  readonly bodyLimit?: number;
}

/** The command line in this process, on its own memory storage. */
export interface TestCommandLine extends TestCore {
  run(args: readonly string[], options?: RunOptions): Promise<CommandOutput>;
  /** What the commands have logged. */
  readonly written: readonly object[];
}

export function createCommandLine(system: Partial<System> = {}, storageTools?: StorageTools): TestCommandLine {
  const core = testCore(system);
  return { ...core, ...createRun(core.app, storageTools) };
}

/** Returns a function that runs commands in this process on an application, and the lines that they log. */
export function createRun(
  app: Application,
  storageTools: StorageTools = { backUp: rejectUse, copy: rejectUse, deleteWorkspace: rejectUse },
): Pick<TestCommandLine, 'run' | 'written'> {
  const written: object[] = [];
  const run: TestCommandLine['run'] = (args, options = {}) =>
    runInProcess(args, options, async () => ({
      app,
      storageTools,
      bodyLimit: options.bodyLimit ?? 2 ** 20,
      newId: () => v7(),
      logWrite: (command, record) => written.push({ command, ...record }),
      close: async () => undefined,
    }));
  return { run, written };
}

/** Runs a command in this process, on the database that the settings select. */
export function runOnDatabase(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  options: RunOptions = {},
): Promise<CommandOutput> {
  return runInProcess(args, options, (command, stderr) => openApplication(settings, stderr, command));
}

async function runInProcess(
  args: readonly string[],
  { stdin = [], onInterrupt = () => undefined, ...streams }: RunOptions,
  open: (command: Command, stderr: TerminalStream) => Promise<OpenedApplication>,
): Promise<CommandOutput> {
  const stdout = createCollectingStream(streams.stdout);
  const stderr = createCollectingStream(streams.stderr);
  const code = await runCommandLine(args, {
    version: '1.2.3',
    stdin: stdin instanceof Readable ? stdin : Readable.from(stdin, { objectMode: false }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    onInterrupt,
    openApplication: (command) => open(command, stderr.stream),
    serve: async () => void stdout.stream.write('serves\n'),
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

const rejectUse = () => Promise.reject(new Error('a storage in memory has no tools'));

/**
 * Returns a stream that has the given properties and collects the text that is written to it. If the properties are a
 * `Writable` themselves, returns them unchanged, and collects no text.
 */
function createCollectingStream(properties: Partial<TerminalStream> = {}): {
  readonly stream: TerminalStream;
  text(): string;
} {
  if (properties instanceof Writable) return { stream: properties, text: () => '' };
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, properties), text: () => text };
}

export const CLI_PATH = join(import.meta.dirname, '../../bootstrap/cli.js');

/** A command that runs as its own process. */
export interface StartedCommand {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: Promise<CommandOutput>;
  /**
   * Waits until standard output matches. Resolves to the first group of the match. Rejects if the command exits first.
   */
  waitForOutput(pattern: RegExp): Promise<string>;
}

/** Starts a command as its own process. `env` is added to the environment of the tests. */
export function startCommand(args: readonly string[], env: Readonly<Record<string, string>>): StartedCommand {
  const child = spawn(process.execPath, ['--enable-source-maps', CLI_PATH, ...args], {
    env: { ...process.env, ...env },
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (text.stdout += chunk));
  child.stderr.on('data', (chunk) => (text.stderr += chunk));
  // A command that does not read its input may close the input. The resulting error does not concern the test.
  child.stdin.on('error', () => undefined);
  const output = once(child, 'close').then(([code]): CommandOutput => ({ code, ...text }));
  const waitForOutput = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const checkOutput = () => {
        const [, match] = pattern.exec(text.stdout) ?? [];
        if (match !== undefined) resolve(match);
      };
      child.stdout.on('data', checkOutput);
      output.then(() => reject(new Error(`exited before ${pattern} matched: ${text.stdout}${text.stderr}`)));
      checkOutput();
    });
  return { child, output, waitForOutput };
}

/** Runs a command as its own process, and waits until it exits. */
export function runProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = '',
): Promise<CommandOutput> {
  const { child, output } = startCommand(args, env);
  child.stdin.end(stdin);
  return output;
}
