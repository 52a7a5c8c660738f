import assert from 'node:assert/strict';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import { storeSchemas } from '../../adapters/persistence/store-schemas.ts';
import type { Share } from '../../core/share/share.ts';
import { buildShare, newId } from '../contract/samples.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';

// A made-up change of the schema: earlier versions had no field `clicks`.
Object.assign(storeSchemas.get('shares')?.defaults ?? {}, { clicks: 0 });

/** Stores a share as such an earlier version did. */
function addOldShare(uri: string, { id, clicks: _, ...share }: Share): Promise<unknown> {
  const stored = { _id: id as never, ...share, revision: newId() };
  return withMongoClient(uri, (client) => client.db().collection('shares').insertOne(stored));
}

suite('a database of an earlier version', {
  'gets the defaults of new columns, so that an old record is at the right place in a list': () =>
    withDatabase(async (uri) => {
      const [workspaceId, campaignId] = [newId(), newId()];
      // With equal clicks, the earlier ID is first.
      const [zero, old, one, two] = [0, 0, 1, 2].map((clicks) => buildShare(workspaceId, { campaignId, clicks })) as [
        Share,
        Share,
        Share,
        Share,
      ];
      await addOldShare(uri, old);
      await withEngine(uri, async (engine) => {
        for (const share of [two, one, zero]) await engine.shares.add(share);
        const filter = { campaignId, sortBy: 'clicks', sortOrder: 'asc' } as const;
        const { items } = await createStorage(engine).shares.findPage(workspaceId, filter, { page: 1, pageSize: 9 });
        assert.deepEqual(items, [zero, old, one, two]);
      });
    }),
});
