import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import type { Share } from '../../core/share/share.ts';
import { buildShare, newId } from '../contract/samples.ts';
import { createDatabase } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';

/** Stores a share as earlier versions of the service did, which had no field `clicks`. */
async function addOldShare(uri: string, { id, clicks: _, ...share }: Share): Promise<void> {
  const client = new MongoClient(uri);
  await client
    .db()
    .collection('shares')
    .insertOne({ _id: id as never, ...share, revision: newId() });
  await client.close();
}

suite('a database of an earlier version', {
  'gets the defaults of new columns, so that an old record is at the right place in a list': async () => {
    const { uri, stop } = await createDatabase();
    const [workspaceId, campaignId] = [newId(), newId()];
    // With equal clicks, the earlier ID is first.
    const [zero, old, one, two] = [0, 0, 1, 2].map((clicks) => buildShare(workspaceId, { campaignId, clicks })) as [
      Share,
      Share,
      Share,
      Share,
    ];
    await addOldShare(uri, old);
    const { engine, connection } = createMongodbEngine(uri, () => undefined);
    try {
      for (const share of [two, one, zero]) await engine.shares.add(share);
      const filter = { campaignId, sortBy: 'clicks', sortOrder: 'asc' } as const;
      const { items } = await createStorage(engine).shares.page(workspaceId, filter, { page: 1, pageSize: 9 });
      assert.deepEqual(items, [zero, old, one, two]);
    } finally {
      await connection.close();
      await stop();
    }
  },
});
