import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { newId } from '../contract/samples.ts';
import { storageContract } from '../contract/storage.ts';
import { root } from '../support/compose.ts';
import { each } from '../support/each.ts';
import { send } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { callOf, everyOperation, successOf } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { type Router, startRouter } from '../support/router.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { until } from '../support/until.ts';

/** The commands of docs/operating.md that shard the collections. */
const shardKeys = [
  ...readFileSync(join(root, 'docs/operating.md'), 'utf8').matchAll(
    /^sh\.shardCollection\('advocacy\.(\w+)', \{ (.*) \}\)$/gm,
  ),
].map(([, name, key]) => [name as string, Object.fromEntries((key as string).split(', ').map(keyField))] as const);

function keyField(field: string): [string, 1 | 'hashed'] {
  const [name, value] = field.split(': ') as [string, string];
  return [name, value === '1' ? 1 : 'hashed'];
}

/** Makes the collections and the indexes in a database, and shards them as docs/operating.md says. */
async function shard(uri: string): Promise<void> {
  await withUseCases(uri, (use) => use.ready());
  const client = new MongoClient(uri);
  try {
    for (const [name, key] of shardKeys) {
      const collection = client.db().collection(name);
      await collection.createIndex(key as Record<string, 1>);
      await client.db('admin').command({ shardCollection: collection.namespace, key });
    }
  } finally {
    await client.close();
  }
}

/** A router that all tests share which stop no shard; each has a database of its own. */
let shared: Promise<Router> | undefined;

const sharedRouter = () => (shared ??= startRouter(2, 2));

/** The sharded database of the contract: in the cluster that MONGOS names, or behind the shared router. */
let database: Promise<string> | undefined;

async function openStorage() {
  database ??= newDatabase(process.env.MONGOS ?? (await sharedRouter()).uri);
  const { storage, connection } = mongodbStorage(await database, () => undefined);
  await connection.attempted();
  return { storage, close: () => connection.close() };
}

async function newDatabase(server: string): Promise<string> {
  const uri = inDatabase(server, `test-${newId()}`);
  await shard(uri);
  return uri;
}

async function dropDatabase(uri: string): Promise<void> {
  const client = new MongoClient(uri);
  await client.db().dropDatabase();
  await client.close();
}

interface Opened extends ReturnType<typeof mongodbStorage> {
  readonly router: Router;
  readonly uri: string;
  readonly told: readonly string[];
}

/** Opens a storage on the shared router for a test. */
async function onStorage(test: (opened: Opened) => Promise<void>): Promise<void> {
  const router = await sharedRouter();
  await withStorage(router, await newDatabase(router.uri), test);
}

async function withStorage(router: Router, uri: string, test: (opened: Opened) => Promise<void>): Promise<void> {
  const told: string[] = [];
  const opened = mongodbStorage(uri, (line) => told.push(line));
  try {
    await opened.connection.attempted();
    await test({ ...opened, router, uri, told });
  } finally {
    await opened.connection.close();
  }
}

const isReady = (url: string) => send(url, { path: '/readyz' }).then(({ status }) => status === 200);

suite('storage in a sharded cluster', {
  ...storageContract(openStorage),
  'leaves no database behind': async () => process.env.MONGOS && database && dropDatabase(await database),
});

suite('a sharded cluster', {
  'gets each command of the API on one shard, and asks all of them only for the list of workspaces': () =>
    onStorage(async ({ router, uri }) => {
      const tenant = await withUseCases(uri, (application) => createTenant({ application }, 'tenant'));
      router.broadcasts.length = 0;
      await withProcess(onMongodb(uri), async ({ url }) => {
        await until(() => isReady(url));
        await each(everyOperation, async (operation) => {
          const { path, body } = callOf(operation, tenant);
          const call = { method: operation.method, path, key: tenant.key, ...(body && { body }) };
          const { status, text } = await send(url, call);
          assert.equal(status, successOf(operation), text);
        });
      });
      assert.deepEqual(router.broadcasts, []);
      await withUseCases(uri, async (use) => {
        const names: string[] = [];
        for await (const { name } of use.workspaces.all()) names.push(name);
        assert.deepEqual(names, ['tenant']);
      });
      assert.deepEqual([...new Set(router.broadcasts)], ['find workspaces']);
    }),

  ends: async () => (await shared)?.stop(),
});
