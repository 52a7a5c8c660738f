import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { commands, groups } from '../../adapters/cli/commands.ts';
import { withCheckout } from '../support/checkout.ts';
import { commandLine } from '../support/command-line.ts';
import { play, type Step, stepsOf } from '../support/console.ts';
import { mongod } from '../support/mongod.ts';
import { isLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';

const CLI = join(import.meta.dirname, '../../bootstrap/cli.js');
const PAGE = join(import.meta.dirname, '../../../docs/command-line.md');
const MARK = /<!-- reference.*-->\n/;
const updates = process.env.UPDATE_DOCS === '1';

const page = () => readFileSync(PAGE, 'utf8');

/** The help of every level, as the page has it. */
async function reference(): Promise<string> {
  const { run } = commandLine();
  const sections = [];
  for (const name of ['', ...namesInOrder(), 'serve']) {
    const { stdout } = await run([...name.split(' ').filter(Boolean), '--help']);
    sections.push(`\n### ${`advocacy ${name}`.trim()}\n\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\`\n`);
  }
  return sections.join('');
}

/** Groups, each before its commands. */
function namesInOrder(): string[] {
  const names = commands.map(({ name }) => name);
  return names.flatMap((name, i) => {
    const [group = ''] = name.split(' ');
    const isFirst = names.findIndex((other) => other.split(' ')[0] === group) === i;
    return isFirst && group in groups ? [group, name] : [name];
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Plays the page on a database and in a folder of its own. */
async function played(steps: readonly Step[]): Promise<string[]> {
  const { uri, stop } = await mongod();
  let printed: string[] = [];
  try {
    await (isLong ? inCheckout : withoutNpx)(async (folder, env) => {
      const port = await freePort();
      const here = { command: `cd ${folder}`, output: '' };
      const mine = steps.map(({ command, output }) => {
        const mine = command.replace('mongodb://127.0.0.1:27017/advocacy', `'${uri}'`);
        return { command: mine, output: updates ? '' : output };
      });
      printed = await play([here, ...mine], `http://127.0.0.1:${port}`, { ...env, PORT: String(port) });
    });
  } finally {
    await stop();
  }
  return printed.slice(1);
}

type InFolder = (folder: string, env: Readonly<Record<string, string>>) => Promise<void>;

/** At length, `npx` is that of npm. It takes a second for each command. */
function inCheckout(test: InFolder): Promise<void> {
  return withCheckout({ isBuilt: true, packages: 'production' }, ({ folder, env }) => test(folder, env));
}

/** Otherwise, `npx advocacy` starts at once what it starts in a checkout. */
async function withoutNpx(test: InFolder): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  const npx = join(folder, 'npx');
  try {
    writeFileSync(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${CLI}" "$@"\n`);
    chmodSync(npx, 0o755);
    await test(folder, { PATH: `${folder}${delimiter}${process.env.PATH}` });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A page whose steps print what they have printed now. */
function withOutputs(markdown: string, printed: readonly string[]): string {
  const outputs = printed.values();
  return markdown.replaceAll(/^```console\n.*?^```$/gms, (block) => {
    const lines = stepsOf(block).flatMap(({ command }) => [`$ ${command}`, outputs.next().value || []].flat());
    return ['```console', ...lines, '```'].join('\n');
  });
}

/** What is another in each run: the last characters of a key. */
const withoutKeys = (text: string) => text.replaceAll(/…\w{4}/g, '…four');

/** The parts of the page that are played, each by itself after the steps that stand before all. */
const [before = '', ...parts] = page().split(/^(?=## )/m);
const sections = parts.filter((part) => stepsOf(part).length > 0);

suite("the operator's page", {
  ...Object.fromEntries(
    sections.map((section) => [
      `shows what is printed by the commands of: ${section.split('\n')[0]?.slice('## '.length)}`,
      async () => {
        const steps = stepsOf(before + section);
        const printed = await played(steps);
        if (updates)
          return writeFileSync(
            PAGE,
            page().replace(section, () => withOutputs(section, printed.slice(-stepsOf(section).length))),
          );
        for (const [i, { command, output }] of steps.entries()) {
          assert.equal(withoutKeys(printed[i] ?? ''), withoutKeys(output), command);
        }
      },
    ]),
  ),

  'plays every command': () => {
    const played = stepsOf(page())
      .map(({ command }) => command)
      .join('\n');
    for (const { name } of [...commands, { name: 'serve' }]) assert.ok(played.includes(`npx advocacy ${name}`), name);
  },

  'has the help of every command': async () => {
    const [before = '', told = ''] = page().split(MARK);
    const mark = MARK.exec(page())?.[0] ?? '';
    const help = await reference();
    if (updates) writeFileSync(PAGE, before + mark + help);
    else assert.equal(told, help, 'run `UPDATE_DOCS=1 npm test -- docs/command-line` and look at what has changed');
  },
});
