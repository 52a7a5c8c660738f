import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A command of a page and what the page says that it prints. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/** The steps of a page's `console` blocks: a line that begins with `$ `, those indented below it, and the output. */
export function stepsOf(markdown: string): Step[] {
  const blocks = [...markdown.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block]) => block as string);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .filter(Boolean)
      .map((step) => {
        const lines = step.trimEnd().split('\n');
        const end = lines.findIndex((line, i) => i > 0 && !line.startsWith('  '));
        const [command, output] = end < 0 ? [lines, []] : [lines.slice(0, end), lines.slice(end)];
        return { command: command.join('\n'), output: output.join('\n') };
      }),
  );
}

const END = '\x1e';
const CHANGING = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|adv_\w{38}/g;

/**
 * Runs the steps in one bash, and tells what each printed: ids, times and keys, which are others at each run, stand in it
 * as the page has them.
 */
export async function play(
  steps: readonly Step[],
  at: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\nprintf '${END}'\n`).join('');
  const { stdout } = await run('bash', ['-c', script.replaceAll('http://127.0.0.1:3000', at)], {
    env: { ...process.env, ...env },
  });
  return steps.map(({ output }, i) => {
    const ours = (output.match(CHANGING) ?? []).values();
    return (stdout.split(END)[i] ?? '').trimEnd().replaceAll(CHANGING, (value) => ours.next().value ?? value);
  });
}
