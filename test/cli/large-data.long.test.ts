import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createStorage } from '../../adapters/persistence/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { createShareId } from '../../core/campaign/campaign.ts';
import { usageOf } from '../bench/usage.ts';
import { newId } from '../contract/samples.ts';
import { parseJsonOutput, startCommand } from '../support/command-line.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings, createWorkspace, withApplication } from '../support/mongodb-service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';

const POLL_INTERVAL_MS = 200;
const BATCH_SIZE = 1_000;
const SHARER_COUNT = 100_000;
const PAGE = { page: 1, pageSize: 25, includeArchived: false, sortBy: 'createdAt' } as const;

suite('a large amount of data', {
  'does not increase the memory of an import: 500,000 lines take about as much as 20,000': async () => {
    const database = await createDatabase();
    try {
      const { workspaceId } = await withApplication(database.uri, createWorkspace);
      const small = await measurePeakMiB(database.uri, workspaceId, 20_000);
      const large = await measurePeakMiB(database.uri, workspaceId, 500_000);
      assert.ok(large < 1.6 * small, `${small.toFixed()} MiB, and ${large.toFixed()} MiB`);
    } finally {
      await database.stop();
    }
  },

  'does not slow down a list: a campaign with 100,000 shares is listed as fast as one without': async () => {
    const database = await createDatabase();
    const { engine, connection } = createMongodbEngine(database.uri, () => undefined);
    try {
      await connection.waitForFirstAttempt();
      const app = new Application(createStorage(engine), createNodeSystem());
      const { workspaceId } = await createWorkspace(app);
      const member = await app.members.create(workspaceId, { name: 'Kim', email: 'kim@example.com' });
      const actor = { workspaceId, member };
      const { id: campaignId } = await app.campaigns.create(actor, campaign);
      const measureList = async () => {
        const start = performance.now();
        await app.campaigns.list(actor, PAGE);
        return performance.now() - start;
      };
      const unsharedMs = await measureMedianMs(measureList);
      for (let createdCount = 0; createdCount < SHARER_COUNT; createdCount += BATCH_SIZE) {
        const memberIds = Array.from({ length: BATCH_SIZE }, newId);
        const createdAt = new Date().toISOString();
        await engine.shares.addMany(
          memberIds.map((memberId) => ({
            id: createShareId(memberId, campaignId),
            workspaceId,
            campaignId,
            memberId,
            position: 1,
            createdAt,
          })),
        );
      }
      await app.campaigns.recordShare(workspaceId, campaignId, member.id);
      const sharedMs = await measureMedianMs(measureList);
      assert.equal((await app.campaigns.list(actor, PAGE)).items[0]?.hasShared, true);
      assert.ok(sharedMs < 3 * unsharedMs, `${unsharedMs} ms, and ${sharedMs} ms`);
    } finally {
      await connection.close();
      await database.stop();
    }
  },
});

const campaign = { ...createCampaignBody(), status: 'published', destinationUrl: null } as never;

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

async function measureMedianMs(measureMs: () => Promise<number>): Promise<number> {
  const durations: number[] = [];
  for (let i = 0; i < 200; i++) durations.push(await measureMs());
  return durations.sort((a, b) => a - b)[100] as number;
}
