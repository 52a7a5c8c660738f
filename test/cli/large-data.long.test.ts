import assert from 'node:assert/strict';
import { once } from 'node:events';
import { parseJsonOutput, startCommand } from '../support/command-line.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createWorkspace } from '../support/tenants.ts';
import { usageOf } from '../support/usage.ts';

const POLL_INTERVAL_MS = 200;

suite('a large amount of data', {
  'does not increase the memory of an import: 500,000 lines take about as much as 20,000': () =>
    withDatabase(async (uri) => {
      const { workspaceId } = await withApplication(uri, createWorkspace);
      const small = await measurePeakMiB(uri, workspaceId, 20_000);
      const large = await measurePeakMiB(uri, workspaceId, 500_000);
      assert.ok(large < 1.6 * small, `${small.toFixed()} MiB, and ${large.toFixed()} MiB`);
    }),
});

/** Returns the peak resident memory, in MiB, of a process that imports campaigns from its standard input. */
async function measurePeakMiB(uri: string, workspaceId: string, lineCount: number): Promise<number> {
  const args = ['import', '--workspace', workspaceId, 'campaigns', '-', '--json'];
  const { child, output } = startCommand(args, createMongodbSettings(uri));
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
