import { writeSync } from 'node:fs';
import { createSqliteEngine } from '../../adapters/sqlite/engine.ts';
import { buildCampaign, samples } from '../contract/samples.ts';
import { getDatabases } from './database-file.ts';

/** A campaign whose transaction was acknowledged. */
export interface AcknowledgedWrite {
  readonly workspaceId: string;
  readonly id: string;
}

// Writes to a SQLite file until it is killed: `node writer-process.js FILE WRITER_COUNT`. Prints each acknowledged
// write as a line of JSON. Each transaction adds a share and counts it. Checkpoints come after a quarter of the usual
// number of pages, so that a test that waits for one needs to check fewer records.

const CHECKPOINT_PAGE_COUNT = 1_000;
const [file = '', writerCount = '1'] = process.argv.slice(2);
const { engine, connection } = createSqliteEngine(file);
await connection.open();
getDatabases(connection).writer.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGE_COUNT}`);
const workspaceId = process.pid.toString();

async function write(): Promise<void> {
  for (;;) {
    const campaign = buildCampaign(workspaceId);
    await engine.campaigns.add(campaign);
    await engine.runInTransaction(async ({ campaigns, shares }) => {
      await shares.add({ ...samples.shares(workspaceId), campaignId: campaign.id } as never);
      await campaigns.update(workspaceId, campaign.id, (it) => ({ ...it, shares: it.shares + 1, tagIds: ['shared'] }));
    });
    const acknowledged: AcknowledgedWrite = { workspaceId, id: campaign.id };
    writeSync(1, `${JSON.stringify(acknowledged)}\n`);
  }
}

await Promise.all(Array.from({ length: Number(writerCount) }, write));
