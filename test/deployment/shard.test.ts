import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globalStoreNames, recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import { root } from '../support/compose.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';

const script = readFileSync(join(root, 'deployment/shard.js'), 'utf8');

/** The shard key of each collection in the script: its fields, such as `workspaceId: 1`. */
const shardKeys = [...script.matchAll(/^sh\.shardCollection\('advocacy\.(\w+)', \{ (.*) \}\);$/gm)].map(
  ([, name, key]) => [name, (key as string).split(', ')] as [string, string[]],
);

suite('deployment/shard.js', {
  'has a shard key for every collection': () => {
    const names = [...Object.keys(recordSchemas), ...globalStoreNames];
    assert.deepEqual(shardKeys.map(([name]) => name).sort(), names.sort());
    for (const name of globalStoreNames) assert.deepEqual(Object.fromEntries(shardKeys)[name], ["_id: 'hashed'"]);
  },

  'has for each collection with workspaces a shard key that is a prefix of an index, and of every unique index': () =>
    withDatabase((uri) =>
      withMongoClient(uri, async (client) => {
        // The read waits until the indexes are created.
        await withEngine(uri, (engine) => engine.workspaces.get('unknown'));
        for (const [name, key] of shardKeys.filter(([name]) => name in recordSchemas)) {
          const indexes = await client.db().collection(name).indexes();
          const hasPrefix = (index: (typeof indexes)[number]) =>
            key.every((field, i) => Object.entries(index.key)[i]?.join(': ') === field);
          assert.ok(indexes.some(hasPrefix), name);
          for (const index of indexes.filter(({ unique }) => unique))
            assert.ok(hasPrefix(index), `${name} ${index.name}`);
        }
      }),
    ),
});
