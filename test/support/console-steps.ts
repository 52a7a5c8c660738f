import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

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

/** Ends the output of each step. */
export const SEPARATOR = '\x1e';
const VARYING_VALUE =
  /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|adv_\w{38}|(?<=https?:\/\/[\w.:-]+\/)\w{8}\b/g;

/** Acts between two steps, as the reader of a page does who sees the output of a step. */
export type OnOutput = (output: string) => void;

/**
 * Runs the steps in one bash. Resolves to their outputs. IDs, times, keys and short links differ in each run, so they
 * are replaced with the ones in the documented output. `url` replaces the address of the service.
 */
export async function runSteps(
  steps: readonly ConsoleStep[],
  url: string,
  env: Readonly<Record<string, string>>,
  onOutput?: OnOutput,
): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\nprintf '${SEPARATOR}'; read -r _ <&3\n`).join('');
  const outputs = await runProgram('bash', ['-c', script.replaceAll('http://127.0.0.1:3000', url)], env, onOutput);
  return steps.map(({ output }, i) => insertDocumentedValues((outputs[i] ?? '').trimEnd(), output));
}

/** Replaces values that differ in each run with the ones in the documented output. */
export function insertDocumentedValues(output: string, documentedOutput: string): string {
  const documentedValues = (documentedOutput.match(VARYING_VALUE) ?? []).values();
  return output.replaceAll(VARYING_VALUE, (value) => documentedValues.next().value ?? value);
}

/**
 * Runs a program that writes `SEPARATOR` after each step, and then reads a line from file descriptor 3. Resolves to the
 * outputs of the steps. Rejects if the program fails.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onOutput?: OnOutput,
): Promise<string[]> {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  const [, stdout, stderr, next] = child.stdio as [null, Readable, Readable, Writable, undefined];
  let errors = '';
  stderr.on('data', (chunk) => (errors += chunk));
  const outputs: string[] = [];
  let text = '';
  for await (const chunk of stdout.setEncoding('utf8')) {
    text += chunk;
    for (let end = text.indexOf(SEPARATOR); end >= 0; end = text.indexOf(SEPARATOR)) {
      const output = text.slice(0, end);
      text = text.slice(end + 1);
      outputs.push(output);
      onOutput?.(output);
      next.write('\n');
    }
  }
  const [code] = await exit;
  if (code !== 0) throw new Error(`${file} exited with ${code}: ${errors}`);
  return outputs;
}
