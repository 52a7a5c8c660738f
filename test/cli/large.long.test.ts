import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { shareId } from '../../core/campaign/campaign.ts';
import { usageOf } from '../bench/usage.ts';
import { newId } from '../contract/samples.ts';
import { answerOf, startCommand } from '../support/command-line.ts';
import { mongod } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

const LOOK_EVERY_MS = 200;
const BATCH = 1_000;
const SHARERS = 100_000;
const PAGE = { page: 1, pageSize: 25, includeArchived: false, sortBy: 'createdAt' } as const;

suite('what is large', {
  'an import of 500,000 lines takes about the memory of one of 20,000': async () => {
    const database = await mongod();
    try {
      const { workspaceId } = await withUseCases(database.uri, newWorkspace);
      const small = await peakOfImport(database.uri, workspaceId, 20_000);
      const large = await peakOfImport(database.uri, workspaceId, 500_000);
      assert.ok(large < 1.6 * small, `${small.toFixed()} MiB, and ${large.toFixed()} MiB`);
    } finally {
      await database.stop();
    }
  },

  'a campaign that 100,000 have shared is listed as fast as one that nobody has': async () => {
    const database = await mongod();
    const { storage, connection } = mongodbStorage(database.uri, () => undefined);
    try {
      await connection.firstAttempt();
      const app = new Application(storage, createNodeSystem());
      const { workspaceId } = await newWorkspace(app);
      const member = await app.members.create(workspaceId, { name: 'Kim', email: 'kim@example.com' });
      const actor = { workspaceId, member };
      const { id: campaignId } = await app.campaigns.create(actor, campaign);
      const listing = async () => {
        const start = performance.now();
        await app.campaigns.list(actor, PAGE);
        return performance.now() - start;
      };
      const alone = await median(listing);
      for (let made = 0; made < SHARERS; made += BATCH) {
        const members = Array.from({ length: BATCH }, newId);
        const createdAt = new Date().toISOString();
        await storage.shares.addMany(
          members.map((memberId) => ({
            id: shareId(memberId, campaignId),
            workspaceId,
            campaignId,
            memberId,
            createdAt,
          })),
        );
      }
      await app.campaigns.recordShare(workspaceId, campaignId, member.id);
      const shared = await median(listing);
      assert.equal((await app.campaigns.list(actor, PAGE)).items[0]?.hasShared, true);
      assert.ok(shared < 3 * alone, `${alone} ms, and ${shared} ms`);
    } finally {
      await connection.close();
      await database.stop();
    }
  },
});

const campaign = { ...campaignBody(), status: 'published', destinationUrl: null } as never;

/** The most resident memory, in MiB, of a process that imports so many campaigns from its standard input. */
async function peakOfImport(uri: string, workspaceId: string, lines: number): Promise<number> {
  const args = ['import', '--workspace', workspaceId, 'campaigns', '-', '--json'];
  const { child, ended } = startCommand(args, onMongodb(uri));
  const { residentMiB } = usageOf(child.pid as number);
  let peak = 0;
  const looking = setInterval(() => (peak = Math.max(peak, residentMiB() || 0)), LOOK_EVERY_MS);
  const line = `${JSON.stringify(campaignBody())}\n`.repeat(100);
  for (let sent = 0; sent < lines; sent += 100) if (!child.stdin.write(line)) await once(child.stdin, 'drain');
  child.stdin.end();
  assert.equal(answerOf(await ended).accepted, lines);
  clearInterval(looking);
  return peak;
}

async function median(measure: () => Promise<number>): Promise<number> {
  const measured: number[] = [];
  for (let i = 0; i < 200; i++) measured.push(await measure());
  return measured.sort((a, b) => a - b)[100] as number;
}
