import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from '../../core/application.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { collectAll } from '../support/collect-all.ts';
import {
  assertExitCode,
  type CommandOutput,
  parseJsonOutput,
  runProcess,
  startCommand,
} from '../support/command-line.ts';
import { campaignBody } from '../support/samples.ts';
import { quickOrLong } from '../support/scale.ts';
import { createFreezableStorage, type FreezableStorage, withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const SEND_DURATION_MS = 1_000;
const STORE_TIMEOUT_MS = quickOrLong(1_000, 10_000);
const EXIT_TIMEOUT_MS = 9_000;
const createLines = (first: number, last: number) =>
  Array.from(
    { length: last - first + 1 },
    (_, i) => `${JSON.stringify({ ...campaignBody, name: `${first + i}` })}\n`,
  ).join('');

suite('an import that is interrupted while the storage hangs', {
  'names the lines that may be stored, and stores each line once when the import is resumed': async () => {
    const storage = await createFreezableStorage();
    try {
      await withApplication(storage.settings, (app) => interruptAndResume(app, storage));
    } finally {
      storage.thaw();
      await storage.stop();
    }
  },
});

async function interruptAndResume(app: Application, { settings, freeze, thaw }: FreezableStorage): Promise<void> {
  const imports = await Promise.all(
    SIGNALS.map(async (signal) => {
      const { workspaceId } = await createWorkspace(app);
      const args = ['import', '--workspace', workspaceId, 'campaigns', '-', '--json'];
      const getNames = async () =>
        (await collectAll<Campaign>(app.campaigns.iterate(workspaceId))).map(({ name }) => Number(name));
      const started = startCommand(args, settings);
      started.child.stdin.write(createLines(1, 500));
      await waitUntil(async () => (await getNames()).length === 500);
      return { ...started, signal, args, getNames };
    }),
  );
  freeze();
  for (const { child } of imports) child.stdin.write(createLines(501, 1200));
  await delay(SEND_DURATION_MS);
  const interruptedAt = performance.now();
  for (const { child, signal } of imports) child.kill(signal);
  const results = await Promise.all(imports.map(({ output }) => output));
  const milliseconds = performance.now() - interruptedAt;
  thaw();
  assert.ok(milliseconds < EXIT_TIMEOUT_MS, `the imports exited ${milliseconds} ms after the signal`);

  for (const [i, { args, getNames }] of imports.entries()) {
    const result = results[i] as CommandOutput;
    assertExitCode(result, 130);
    const { importId, ...summary } = JSON.parse(result.stdout);
    const uncertain = { firstLine: 501, lastLine: 1000 };
    const counts = { refused: [], kind: 'campaigns', dryRun: false, accepted: 500, nextLine: 501 };
    assert.deepEqual(summary, { ...counts, ended: 'stopped', uncertain });

    // The uncertain lines may be in the socket buffers of MongoDB, which stores them when it resumes.
    const thawedAt = performance.now();
    await waitUntil(async () => (await getNames()).length === 1000 || performance.now() - thawedAt > STORE_TIMEOUT_MS);
    const resume = [...args, '--from-line', '501', '--import-id', importId];
    const resumed = parseJsonOutput(await runProcess(resume, settings, createLines(1, 1200)));
    assert.deepEqual([resumed.accepted, resumed.refused, resumed.nextLine], [700, [], 1201]);
    assert.deepEqual(
      await getNames(),
      Array.from({ length: 1200 }, (_, line) => line + 1),
    );
  }
}
