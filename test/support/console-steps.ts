import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A command in a `console` block of a page, with its documented output. */
export interface ConsoleStep {
  readonly command: string;
  readonly output: string;
}

/**
 * Returns the steps of the `console` blocks of a page. A step is a line that starts with `$ `, the indented lines below
 * it, and the output.
 */
export function parseSteps(markdown: string): ConsoleStep[] {
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

const SEPARATOR = '\x1e';
const VARYING_VALUE =
  /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|adv_\w{38}/g;

/**
 * Runs the steps in one bash. Resolves to their outputs. IDs, times and keys differ in each run, so they are replaced
 * with the ones in the documented output. `url` replaces the address of the service.
 */
export async function runSteps(
  steps: readonly ConsoleStep[],
  url: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\nprintf '${SEPARATOR}'\n`).join('');
  const { stdout } = await run('bash', ['-c', script.replaceAll('http://127.0.0.1:3000', url)], {
    env: { ...process.env, ...env },
  });
  return steps.map(({ output }, i) => {
    const documentedValues = (output.match(VARYING_VALUE) ?? []).values();
    return (stdout.split(SEPARATOR)[i] ?? '')
      .trimEnd()
      .replaceAll(VARYING_VALUE, (value) => documentedValues.next().value ?? value);
  });
}
