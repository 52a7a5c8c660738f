import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Missing } from './missing.ts';

/** The program that gives a command a terminal, in util-linux. */
const SCRIPT = 'script';

export const CONTROL_C = '\x03';

/** A command that runs on a terminal of its own, with all that it shows there. */
export class Terminal {
  text = '';
  readonly ended: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    this.ended = once(child, 'exit');
    child.stdout?.on('data', (chunk) => (this.text += chunk));
  }

  /** Runs a shell command with variables added to the environment; throws `Missing` without `script` of util-linux. */
  static async open(command: string, env: Readonly<Record<string, string>>): Promise<Terminal> {
    const { stdout } = await promisify(execFile)(SCRIPT, ['--version']).catch(() => ({ stdout: '' }));
    if (!stdout.includes('util-linux')) throw new Missing('There is no `script` of util-linux here.');
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    return new Terminal(spawn(SCRIPT, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  /** Resolves to what the group of the pattern matches as soon as it is shown; rejects if the command ends before. */
  async shows(pattern: RegExp): Promise<string> {
    for (;;) {
      const [, found] = pattern.exec(this.text) ?? [];
      if (found !== undefined) return found;
      const next = once(this.child.stdout as NonNullable<ChildProcess['stdout']>, 'data').then(() => true);
      if (!(await Promise.race([next, this.ended.then(() => false)]))) throw new Error(`it ended: ${this.text}`);
    }
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }
}
