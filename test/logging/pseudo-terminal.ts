import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';

/** The program of util-linux that runs a command on a pseudo-terminal. */
const SCRIPT = 'script';

export const CONTROL_C = '\x03';

/** A command that runs on its own pseudo-terminal. */
export class PseudoTerminal {
  /** The output so far. */
  text = '';
  readonly exited: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.exited = once(child, 'exit');
    child.stdout?.on('data', (chunk) => (this.text += chunk));
  }

  /**
   * Runs a shell command with additional environment variables. Rejects with `MissingDependencyError` if `script` of
   * util-linux is not installed.
   */
  static async open(command: string, env: Readonly<Record<string, string>>): Promise<PseudoTerminal> {
    const { stdout } = await promisify(execFile)(SCRIPT, ['--version']).catch(() => ({ stdout: '' }));
    if (!stdout.includes('util-linux')) throw new MissingDependencyError('`script` of util-linux is not installed.');
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    return new PseudoTerminal(
      spawn(SCRIPT, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] }),
    );
  }

  /**
   * Waits until the pattern matches the output. Resolves to the first group of the match. Rejects if the command exits
   * first.
   */
  async waitForText(pattern: RegExp): Promise<string> {
    for (;;) {
      const [, match] = pattern.exec(this.text) ?? [];
      if (match !== undefined) return match;
      const next = once(this.child.stdout as NonNullable<ChildProcess['stdout']>, 'data').then(() => true);
      if (!(await Promise.race([next, this.exited.then(() => false)])))
        throw new Error(`the command exited: ${this.text}`);
    }
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }
}
