import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConsoleStep, parseSteps, runSteps } from '../support/console-steps.ts';
import { createShownRecord, withDnsServer } from '../support/dns-server.ts';
import { withFakeNpx } from '../support/fake-npx.ts';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/request.ts';
import { isLong } from '../support/scale.ts';
import { findFreePort } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const [readme, guide] = ['README.md', 'docs/guide.md'];

/** The minimum number of steps to find in each page. If the test finds fewer, it has missed some. */
const MIN_STEP_COUNTS = new Map([
  [readme, 2],
  [guide, 59],
]);

/** The guide indents JSON with `jq`. */
function requireJq(): void {
  const { error } = spawnSync('jq', ['--version']);
  if (error) throw new MissingDependencyError('`jq` on the PATH');
}

/** Runs the commands of the pages in order on one service. Their outputs must be those of the pages. */
function assertOutputs(...pages: readonly string[]): Promise<void> {
  return withFakeNpx((folder, env) =>
    withDnsServer(async (dns) => {
      const SQLITE_FILE = join(folder, 'advocacy.db');
      const LINKS_PORT = String(await findFreePort());
      const storage = { STORAGE: 'sqlite', SQLITE_FILE };
      const settings = { ...storage, LINKS_PORT, DNS_SERVERS: dns.address, RATE_LIMIT_POINTS: '600' };
      await withProcess(settings, async ({ url }) => {
        for (const page of pages) {
          const file = join(root, page);
          const text = readFileSync(file, 'utf8');
          const steps = parseSteps(text).map((step) => ({
            ...step,
            command: step.command.replaceAll('127.0.0.1:3001', `127.0.0.1:${LINKS_PORT}`),
          }));
          assert.ok(steps.length >= (MIN_STEP_COUNTS.get(page) as number));
          const printed = await runSteps(
            steps,
            url,
            { ...env, SQLITE_FILE, LOG_LEVEL: 'warn', KEY: DEMO_API_KEY },
            (output) => createShownRecord(dns, output),
          );
          if (process.env.UPDATE_DOCS === '1') {
            const update = (page: string, { output }: ConsoleStep, i: number) =>
              output ? page.replace(`\n${output}\n`, () => `\n${printed[i]}\n`) : page;
            writeFileSync(file, steps.reduce(update, text));
          } else for (const [i, { command, output }] of steps.entries()) assert.equal(printed[i], output, command);
        }
      });
    }),
  );
}

suite('README and docs/guide.md', {
  'show the outputs of their commands, whether README or the guide is followed first': async () => {
    requireJq();
    await assertOutputs(readme, guide);
    if (isLong) await assertOutputs(guide, readme);
  },
});
