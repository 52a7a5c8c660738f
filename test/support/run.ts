import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { settings } from '../../bootstrap/settings.ts';
import { RESULTS } from './results.ts';
import { isLong, scale } from './scale.ts';

const FILE_TIMEOUT_MS = scale(180_000, 1_200_000);
const root = join(import.meta.dirname, '..');

/** Runs every file of tests whose path has one of the given words in it, each in a process of its own; `.long.test.ts` only at length. */
async function main(words: readonly string[]): Promise<void> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && (isLong || !file.endsWith('.long.test.js')))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort();
  const total = { passed: 0, failed: 0 };
  const work = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const { passed, failed, output } = await runFile(file);
      total.passed += passed;
      total.failed += failed;
      if (failed > 0) console.log(`${file}\n${output}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  console.log(`${total.passed} passed, ${total.failed} failed`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
}

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

/** A file that ends badly, late or without its results counts as one failure more. */
function runFile(file: string): Promise<Outcome> {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, file)], { env: environment() });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const timer = setTimeout(() => {
    output += `\ndid not end within ${FILE_TIMEOUT_MS} ms\n`;
    child.kill('SIGKILL');
  }, FILE_TIMEOUT_MS);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      const line = output.split('\n').findLast((text) => text.startsWith(RESULTS));
      const { passed, failed } = line ? JSON.parse(line.slice(RESULTS.length)) : { passed: 0, failed: 0 };
      resolve({ passed, failed: failed === 0 && code !== 0 ? 1 : failed, output });
    });
  });
}

/** Without the settings of whoever runs the tests. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !(name in settings)));
}

await main(process.argv.slice(2));
