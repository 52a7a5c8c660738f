import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { v7 } from 'uuid';
import type { Terminal } from '../../adapters/cli/progress.ts';
import { type Environment, runCommandLine } from '../../adapters/cli/run.ts';
import type { System } from '../../core/shared/system.ts';
import { type TestCore, testCore } from './core.ts';

/** How a command ended. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The JSON that a command answered; fails where it wrote anything else, or ended badly. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
export function answerOf({ code, stdout, stderr }: Ran): any {
  if (code !== 0) throw new Error(`ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** What a test gives a command beside its words. */
export interface Given {
  readonly stdin?: Readable | Iterable<string | Uint8Array> | AsyncIterable<Uint8Array>;
  readonly stdout?: Partial<Terminal>;
  readonly stderr?: Partial<Terminal>;
  readonly env?: Environment['env'];
  /** Is called with what interrupts the command, as Ctrl-C does. */
  readonly onInterrupt?: Environment['onInterrupt'];
  readonly bodyLimit?: number;
}

/** The command line over a memory storage of its own, in this process. */
export interface CommandLine extends TestCore {
  run(args: readonly string[], given?: Given): Promise<Ran>;
}

export function commandLine(system: Partial<System> = {}): CommandLine {
  const core = testCore(system);
  const run = async (args: readonly string[], given: Given = {}): Promise<Ran> => {
    const { stdin = [], env = {}, onInterrupt = () => undefined, bodyLimit = 2 ** 20 } = given;
    const stdout = collecting(given.stdout);
    const stderr = collecting(given.stderr);
    const code = await runCommandLine(args, {
      version: '1.2.3',
      stdin: stdin instanceof Readable ? stdin : Readable.from(stdin, { objectMode: false }),
      stdout: stdout.stream,
      stderr: stderr.stream,
      env,
      onInterrupt,
      open: async () => ({
        app: core.app,
        bodyLimit,
        now: () => core.clock.now,
        newId: () => v7(),
        close: async () => undefined,
      }),
      serve: async () => void stdout.stream.write('serves\n'),
    });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  return { ...core, run };
}

/** A stream that keeps what is written to it; one that is given whole is taken as it is. */
function collecting(like: Partial<Terminal> = {}): { readonly stream: Terminal; text(): string } {
  if (like instanceof Writable) return { stream: like, text: () => '' };
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, like), text: () => text };
}

export const CLI = join(import.meta.dirname, '../../bootstrap/cli.js');

/** A command that runs as a process of its own. */
export interface StartedCommand {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ran>;
  /** Resolves to what a group of the pattern matches as soon as it was printed; rejects when the command ends before. */
  printed(pattern: RegExp): Promise<string>;
}

/** Starts a command. What is left out of `env` is as it is for the tests. */
export function startCommand(args: readonly string[], env: Readonly<Record<string, string>>): StartedCommand {
  const child = spawn(process.execPath, ['--enable-source-maps', CLI, ...args], { env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  child.stdin.on('error', () => 'it does not read');
  const ended = once(child, 'close').then(([code]): Ran => ({ code, ...output }));
  const printed = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const [, found] = pattern.exec(output.stdout) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on('data', look);
      ended.then(() => reject(new Error(`it ended before it printed that: ${output.stdout}${output.stderr}`)));
      look();
    });
  return { child, ended, printed };
}

/** Runs a command to its end as a process of its own. */
export function runProcess(args: readonly string[], env: Readonly<Record<string, string>>, stdin = ''): Promise<Ran> {
  const { child, ended } = startCommand(args, env);
  child.stdin.end(stdin);
  return ended;
}
