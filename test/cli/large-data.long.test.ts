import assert from 'node:assert/strict';
import { once } from 'node:events';
import { parseJsonOutput, startCommand } from '../support/command-line.ts';
import { type Environment, withApplication, withDurableStorage } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createWorkspace } from '../support/tenants.ts';
import { usageOf } from '../support/usage.ts';

const POLL_INTERVAL_MS = 200;

suite('a large amount of data', {
  'does not increase the memory of an import: 500,000 lines take about as much as 20,000': () =>
    withDurableStorage(async (settings) => {
      const { workspaceId } = await withApplication(settings, createWorkspace);
      const small = await measurePeakMiB(settings, workspaceId, 20_000);
      const large = await measurePeakMiB(settings, workspaceId, 500_000);
      assert.ok(large < 1.6 * small, `${small.toFixed()} MiB, and ${large.toFixed()} MiB`);
    }),
});

/** Returns the peak resident memory, in MiB, of a process that checks campaigns from its standard input. */
async function measurePeakMiB(settings: Environment, workspaceId: string, lineCount: number): Promise<number> {
  const args = ['import', '--workspace', workspaceId, 'campaigns', '-', '--json', '--dry-run'];
  const { child, output } = startCommand(args, settings);
  const { residentMiB } = usageOf(child.pid as number);
  let peakMiB = 0;
  const timer = setInterval(() => (peakMiB = Math.max(peakMiB, residentMiB() || 0)), POLL_INTERVAL_MS);
  const hundredLines = `${JSON.stringify(createCampaignBody())}\n`.repeat(100);
  for (let sentCount = 0; sentCount < lineCount; sentCount += 100)
    if (!child.stdin.write(hundredLines)) await once(child.stdin, 'drain');
  child.stdin.end();
  assert.equal(parseJsonOutput(await output).accepted, lineCount);
  clearInterval(timer);
  return peakMiB;
}
