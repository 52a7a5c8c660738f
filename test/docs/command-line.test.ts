import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConsoleStep, parseSteps, runSteps } from '../support/console-steps.ts';
import { withFakeNpx } from '../support/fake-npx.ts';
import { createDatabase } from '../support/mongod.ts';
import { quickOrLong } from '../support/scale.ts';
import { findFreePort } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';

const PAGE_PATH = join(import.meta.dirname, '../../../docs/command-line.md');
const shouldUpdate = process.env.UPDATE_DOCS === '1';

const readPage = () => readFileSync(PAGE_PATH, 'utf8');

const MONGODB_URI = 'mongodb://127.0.0.1:27017/advocacy';

/** Runs steps of the page in a new folder, where the database file is created. Resolves to the outputs of the steps. */
async function runInNewFolder(steps: readonly ConsoleStep[]): Promise<string[]> {
  const mongodb = steps.some(({ command }) => command.includes(MONGODB_URI)) ? await createDatabase() : undefined;
  let outputs: string[] = [];
  try {
    await withFakeNpx(async (folder, env) => {
      const port = await findFreePort();
      const changeFolder = { command: `cd ${folder}`, output: '' };
      const ownSteps = steps.map(({ command, output }) => {
        const ownCommand = command.replace(MONGODB_URI, `'${mongodb?.uri}'`);
        // `runSteps` replaces new IDs, times and keys by those of the documented output. An empty output has none, so
        // the new ones stay.
        return { command: ownCommand, output: shouldUpdate ? '' : output };
      });
      outputs = await runSteps([changeFolder, ...ownSteps], `http://127.0.0.1:${port}`, { ...env, PORT: String(port) });
    });
  } finally {
    await mongodb?.stop();
  }
  return outputs.slice(1);
}

/** Returns a page with new outputs of its steps. */
function replaceOutputs(markdown: string, newOutputs: readonly string[]): string {
  const outputs = newOutputs.values();
  return markdown.replaceAll(/^```console\n.*?^```$/gms, (block) => {
    const lines = parseSteps(block).flatMap(({ command }) => [`$ ${command}`, outputs.next().value || []].flat());
    return ['```console', ...lines, '```'].join('\n');
  });
}

/** Masks the last four characters of keys, which differ in each run. */
const maskKeys = (text: string) => text.replaceAll(/…\w{4}/g, '…four');

/** The number of steps up to which a quick run runs a section. A step starts a process, which takes a while. */
const MAX_QUICK_STEP_COUNT = quickOrLong(10, Number.POSITIVE_INFINITY);

/** The sections of the page that have steps. Each runs on its own, after the steps of the introduction. */
const [introduction = '', ...parts] = readPage().split(/^(?=## )/m);
const sections = parts.filter((part) => parseSteps(part).length > 0);
const isIncluded = (part: string) => shouldUpdate || parseSteps(part).length <= MAX_QUICK_STEP_COUNT;

suite(
  'docs/command-line.md',
  sections.filter(isIncluded).map((section) => [
    `shows the current output of the commands in: ${section.split('\n')[0]?.slice('## '.length)}`,
    async () => {
      const steps = parseSteps(introduction + section);
      const outputs = await runInNewFolder(steps);
      if (shouldUpdate)
        return writeFileSync(
          PAGE_PATH,
          readPage().replace(section, () => replaceOutputs(section, outputs.slice(-parseSteps(section).length))),
        );
      for (const [i, { command, output }] of steps.entries()) {
        assert.equal(maskKeys(outputs[i] ?? ''), maskKeys(output), command);
      }
    },
  ]),
);
