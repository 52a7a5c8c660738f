import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from '../../core/application.ts';
import {
  assertExitCode,
  type CommandOutput,
  parseJsonOutput,
  runProcess,
  startCommand,
} from '../support/command-line.ts';
import { listCampaigns } from '../support/list-campaigns.ts';
import { campaignBody } from '../support/samples.ts';
import { createFreezableStorage, type FreezableStorage, withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const SEND_DURATION_MS = 1_000;
const EXIT_TIMEOUT_MS = 9_000;
const createLines = (first: number, last: number) =>
  Array.from(
    { length: last - first + 1 },
    (_, i) => `${JSON.stringify({ ...campaignBody, name: `${first + i}` })}\n`,
  ).join('');

suite('an import that is interrupted while the storage hangs', {
  'exits in time, and stores each line once when it is continued': async () => {
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
        (await listCampaigns(app, workspaceId)).map(({ name }) => Number(name)).sort((a, b) => a - b);
      const started = startCommand(args, settings);
      started.child.stdin.write(createLines(1, 100));
      await waitUntil(async () => (await getNames()).length === 100);
      return { ...started, signal, args, getNames };
    }),
  );
  freeze();
  for (const { child } of imports) child.stdin.write(createLines(101, 300));
  await delay(SEND_DURATION_MS);
  const interruptedAt = performance.now();
  for (const { child, signal } of imports) child.kill(signal);
  const results = await Promise.all(imports.map(({ output }) => output));
  const milliseconds = performance.now() - interruptedAt;
  thaw();
  assert.ok(milliseconds < EXIT_TIMEOUT_MS, `the imports exited ${milliseconds} ms after the signal`);

  await Promise.all(
    imports.map(async ({ args, getNames }, i) => {
      const result = results[i] as CommandOutput;
      assertExitCode(result, 130);
      const { importId, ...summary } = JSON.parse(result.stdout);
      const expected = {
        rejected: [],
        kind: 'campaigns',
        dryRun: false,
        accepted: 100,
        nextLine: 101,
        ended: 'stopped',
      };
      assert.deepEqual(summary, expected);
      const resume = [...args, '--from-line', '101', '--import-id', importId];
      const resumed = parseJsonOutput(await runProcess(resume, settings, createLines(1, 300)));
      assert.deepEqual([resumed.accepted, resumed.rejected, resumed.nextLine], [200, [], 301]);
      assert.deepEqual(
        await getNames(),
        Array.from({ length: 300 }, (_, line) => line + 1),
      );
    }),
  );
}
