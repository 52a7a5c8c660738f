import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { SearchTimeout } from '../../adapters/mongodb/errors.ts';
import type { Application } from '../../core/application.ts';
import { buildCampaign, buildTag, newId } from '../contract/samples.ts';
import { defineStorageContract } from '../contract/storage-contract.ts';
import { root } from '../support/compose.ts';
import { each } from '../support/each.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { mongodb } from '../support/engines/mongodb.ts';
import { type FakeMongos, startFakeMongos } from '../support/fake-mongos.ts';
import { assertInternalError } from '../support/ledger.ts';
import { type LoadResponse, quantile, send } from '../support/load.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabaseName } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { allOperations, successStatusOf, validCallOf } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const MAX_FAILURE_MS = 20_000;
const MAX_TIME_EXPIRED_CODE = 50;
const OUTAGE_MS = 2_000;
const REQUEST_INTERVAL_MS = 100;
const COMMAND_COUNT = 40;

/** The names of the collections with their shard keys, from the commands of docs/operating.md. */
const shardKeys = [
  ...readFileSync(join(root, 'docs/operating.md'), 'utf8').matchAll(
    /^sh\.shardCollection\('advocacy\.(\w+)', \{ (.*) \}\)$/gm,
  ),
].map(([, name, key]) => [name as string, Object.fromEntries((key as string).split(', ').map(keyField))] as const);

function keyField(field: string): [string, 1 | 'hashed'] {
  const [name, value] = field.split(': ') as [string, string];
  return [name, value === '1' ? 1 : 'hashed'];
}

/** Creates the collections and indexes in a database, and shards them as docs/operating.md says. */
async function shardDatabase(uri: string): Promise<void> {
  await withApplication(uri, (app) => waitUntil(() => succeeds(app.checkReady())));
  await withMongoClient(uri, async (client) => {
    for (const [name, key] of shardKeys) {
      const collection = client.db().collection(name);
      await collection.createIndex(key as Record<string, 1>);
      await client.db('admin').command({ shardCollection: collection.namespace, key });
    }
  });
}

/** The cluster for all tests that stop no shard. Each of these tests has its own database. */
let sharedCluster: Promise<FakeMongos> | undefined;

/** Starts two shards and two routers for the first test that needs them. */
const getSharedCluster = () => (sharedCluster ??= startFakeMongos(2, 2));

/**
 * MongoDB with databases in the cluster of the environment variable `MONGOS`, or in the shared cluster. A shard cannot reject an ID that a
 * record on another shard has. mongos has no profiler, so examined records cannot be counted.
 */
const shardedMongodb: TestEngine = {
  ...mongodb,
  rejectsIdsOfOtherWorkspaces: false,
  countExaminedRecords: 'unmeasurable',
  async createDatabase() {
    const location = await createShardedDatabase(process.env.MONGOS ?? (await getSharedCluster()).uri);
    const dropDatabase = () => withMongoClient(location, async (client) => void (await client.db().dropDatabase()));
    return { location, remove: dropDatabase };
  },
};

async function createShardedDatabase(server: string): Promise<string> {
  const uri = withDatabaseName(server, `test-${newId()}`);
  await shardDatabase(uri);
  return uri;
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Starts a cluster of its own for a test that stops shards. */
async function withOwnCluster(test: (cluster: FakeMongos, uri: string) => Promise<void>): Promise<void> {
  const cluster = await startFakeMongos();
  try {
    await test(cluster, await createShardedDatabase(cluster.uri));
  } finally {
    await cluster.stop();
  }
}

interface Opened extends ReturnType<typeof createMongodbEngine> {
  readonly cluster: FakeMongos;
  readonly uri: string;
  readonly logLines: readonly string[];
}

/** Runs a test with a storage in a new database of the shared cluster. */
async function withSharedStorage(test: (opened: Opened) => Promise<void>): Promise<void> {
  const cluster = await getSharedCluster();
  await withStorage(cluster, await createShardedDatabase(cluster.uri), test);
}

async function withStorage(cluster: FakeMongos, uri: string, test: (opened: Opened) => Promise<void>): Promise<void> {
  const logLines: string[] = [];
  const opened = createMongodbEngine(uri, (line) => logLines.push(line));
  try {
    await waitUntil(() => succeeds(opened.engine.checkReady()));
    await test({ ...opened, cluster, uri, logLines });
  } finally {
    await opened.connection.close();
  }
}

/** Creates a tenant with all of its records, its key and its workspace on one shard. */
async function createTenantOnShard(shard: number, cluster: FakeMongos, app: Application): Promise<Tenant> {
  for (let i = 0; ; i++) {
    const tenant = await createTenant({ app }, `tenant${shard}x${i}`);
    const values = [tenant.workspaceId, createHash('sha256').update(tenant.key).digest('hex')];
    if (values.every((value) => cluster.shardOf(value) === shard)) return tenant;
  }
}

/** Returns the ID of a workspace on a shard. */
function newWorkspaceIdOnShard(shard: number, cluster: FakeMongos): string {
  for (;;) {
    const id = newId();
    if (cluster.shardOf(id) === shard) return id;
  }
}

const checkIsReady = (url: string) => send(url, { path: '/readyz' }).then(({ status }) => status === 200);

// On a cluster, the contract runs only in a long run or with `MONGOS`. On a replica set, every run tests it. The tests below test what
// only a cluster has.
if (isLong || process.env.MONGOS) {
  suite('storage in a sharded cluster', ...defineStorageContract(shardedMongodb));
}

suite('a sharded cluster', {
  'sends each command of the API to one shard, and only the list of workspaces to all shards': () =>
    withSharedStorage(async ({ cluster, uri }) => {
      const tenant = await withApplication(uri, (app) => createTenant({ app }, 'tenant'));
      cluster.broadcasts.length = 0;
      await withProcess(createMongodbSettings(uri), async ({ url }) => {
        await waitUntil(() => checkIsReady(url));
        await each(allOperations, async (operation) => {
          const { path, body } = validCallOf(operation, tenant);
          const call = { method: operation.method, path, key: tenant.key, ...(body && { body }) };
          const { status, text } = await send(url, call);
          assert.equal(status, successStatusOf(operation), text);
        });
      });
      assert.deepEqual(cluster.broadcasts, []);
      await withApplication(uri, async (app) => {
        const names: string[] = [];
        for await (const { name } of app.workspaces.iterate()) names.push(name);
        assert.deepEqual(names, ['tenant']);
      });
      assert.deepEqual([...new Set(cluster.broadcasts)], ['find workspaces']);
    }),

  'receives a command again if the shard was unavailable or the data has moved to another shard': () =>
    withSharedStorage(async ({ engine, connection, cluster }) => {
      const record = buildTag(newId(), 'one');
      await engine.tags.add(record);
      const { workspaceId, id } = record;
      const reads: readonly [string, () => Promise<unknown>][] = [
        ['find', () => engine.tags.get(workspaceId, id)],
        ['find', () => engine.runInTransaction((staged) => staged.tags.get(workspaceId, id))],
        ['aggregate', async () => (await engine.tags.count(workspaceId, [])) === 1 && record],
      ];
      // Codes of adapters/mongodb/errors.ts for an unavailable shard, a time limit and moved data.
      for (const code of [6, 50, 89, 133, 202, 407, 13388]) {
        for (const [command, read] of reads) {
          const before = connection.retries;
          cluster.fail(command, code, 3);
          assert.deepEqual(await read(), record, `${command} ${code}`);
          assert.equal(cluster.remainingFailureCount, 0);
          assert.ok(connection.retries > before);
        }
      }
    }),

  'does not receive a search again after the search exceeded its time limit': () =>
    withSharedStorage(async ({ engine, cluster }) => {
      const where = [{ field: 'searchText', contains: 'a' }] as const;
      const query = { where, by: 'createdAt', order: 'asc', skip: 0, take: 9 } as const;
      cluster.fail('find', MAX_TIME_EXPIRED_CODE, 9);
      await assert.rejects(engine.campaigns.list(newId(), query), SearchTimeout);
      assert.equal(cluster.remainingFailureCount, 8);
      // Cancel the remaining planned failures.
      cluster.fail('', 0, 0);
    }),

  'commits once if the result of a commit is unknown': () =>
    withSharedStorage(async ({ engine, cluster }) => {
      for (const code of [MAX_TIME_EXPIRED_CODE, 133, 202]) {
        const record = buildTag(newId(), 'one');
        let runCount = 0;
        cluster.fail('commitTransaction', code, 2);
        await engine.runInTransaction(async ({ tags }) => {
          runCount++;
          await tags.add(record);
        });
        assert.deepEqual([runCount, cluster.remainingFailureCount], [1, 0]);
        assert.deepEqual(await engine.tags.get(record.workspaceId, record.id), record);
      }
    }),

  'returns a result above 16 MiB, and has no open cursor afterwards': () =>
    withSharedStorage(async ({ engine, cluster }) => {
      const workspaceId = newId();
      const description = 'x'.repeat(3_000_000);
      const added = Array.from({ length: 6 }, () => ({ ...buildCampaign(workspaceId), description }));
      for (const record of added) await engine.campaigns.add(record);
      const ids = added.map(({ id }) => id).sort();
      const found = await engine.campaigns.getMany(workspaceId, ids);
      assert.deepEqual(found.map(({ id }) => id).sort(), ids);
      assert.deepEqual(await findIdleCursors(cluster), []);
    }),

  'clean-up: stops the cluster': async () => (await sharedCluster)?.stop(),
});

suite('a shard that is unavailable', {
  'fails only requests to its own workspaces, within the time limit, until it is available again': () =>
    withOwnCluster(async (cluster, uri) => {
      const tenants = await withApplication(uri, async (app) => [
        await createTenantOnShard(0, cluster, app),
        await createTenantOnShard(1, cluster, app),
      ]);
      const [availableTenant, unavailableTenant] = tenants as [Tenant, Tenant];
      const stoppedShard = cluster.shards[1] as ServerProcess;
      const get = (url: string, { ids, key }: Tenant) => send(url, { path: `/campaigns/${ids.campaigns}`, key });
      const add = (url: string, { key }: Tenant, name: string) =>
        send(url, { method: 'POST', path: '/tags', key, body: { name } });
      const isServed = async (url: string, tenant: Tenant) => (await get(url, tenant)).status === 200;
      await withProcess(createMongodbSettings(uri), async ({ url }) => {
        await waitUntil(async () => (await isServed(url, availableTenant)) && (await isServed(url, unavailableTenant)));
        await stoppedShard.kill();
        const [availableCalls, unavailableCalls, probes]: Promise<LoadResponse>[][] = [[], [], []];
        for (let i = 0; i * REQUEST_INTERVAL_MS < OUTAGE_MS; i++) {
          unavailableCalls?.push(get(url, unavailableTenant), add(url, unavailableTenant, `Tag ${i}`));
          availableCalls?.push(
            get(url, availableTenant),
            add(url, availableTenant, `Tag ${i}`),
            get(url, availableTenant),
          );
          probes?.push(send(url, { path: '/readyz' }));
          await delay(REQUEST_INTERVAL_MS);
        }
        const responses = await Promise.all(availableCalls ?? []);
        for (const { status, text } of responses) assert.ok(status === 200 || status === 201, text);
        for (const { status, text } of await Promise.all(probes ?? [])) assert.equal(status, 200, text);
        const failures = await Promise.all(unavailableCalls ?? []);
        for (const it of failures) assertInternalError(it);
        assert.ok(Math.max(...millisecondsOf(failures)) < MAX_FAILURE_MS);
        const [successMs, failureMs] = [responses, failures].map((sent) => quantile(millisecondsOf(sent), 0.5)) as [
          number,
          number,
        ];
        assert.ok(successMs < failureMs / 2, `${successMs} ms, and ${failureMs} ms for failures`);

        await withProcess(createMongodbSettings(uri), async ({ url: another }) => {
          await waitUntil(() => isServed(another, availableTenant));
          assert.ok(await checkIsReady(another));
          await stoppedShard.start();
          await waitUntil(
            async () => (await isServed(url, unavailableTenant)) && (await isServed(another, unavailableTenant)),
          );
        });

        await Promise.all(cluster.shards.map((shard) => shard.kill()));
        await waitUntil(async () => !(await checkIsReady(url)));
        await Promise.all(cluster.shards.map((shard) => shard.start()));
        await waitUntil(() => checkIsReady(url));
        await waitUntil(async () => (await isServed(url, availableTenant)) && (await isServed(url, unavailableTenant)));
      });
    }),

  'causes DatabaseUnavailable only for its own workspaces, does not use up the connections, and is logged': () =>
    withOwnCluster((cluster, uri) =>
      withStorage(cluster, uri, async ({ engine, connection, logLines }) => {
        cluster.hostTimeoutMs = 200;
        const [availableId, unavailableId] = [newWorkspaceIdOnShard(0, cluster), newWorkspaceIdOnShard(1, cluster)];
        await engine.tags.add(buildTag(availableId, 'before'));
        await (cluster.shards[1] as ServerProcess).kill();
        const counts = Promise.allSettled(
          Array.from({ length: COMMAND_COUNT }, () => engine.tags.count(unavailableId, [])),
        );
        await delay(REQUEST_INTERVAL_MS);
        const usedCount = connection.connectionsInUse + connection.waitingCommandCount;
        assert.ok(usedCount <= COMMAND_COUNT / 2, `${usedCount} commands have a connection or wait for one`);
        const added = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) =>
            engine.tags.add(buildTag(i % 2 ? unavailableId : availableId, `Tag ${i}`)),
          ),
        );
        for (const [i, result] of added.entries()) {
          if (i % 2) assert.equal((result as PromiseRejectedResult).reason.name, 'DatabaseUnavailable');
          else assert.equal(result.status, 'fulfilled');
        }
        assert.equal(await engine.tags.count(availableId, []), 11);
        const transaction = engine.runInTransaction(({ tags }) => tags.add(buildTag(unavailableId, 'one')));
        await assert.rejects(transaction, { name: 'DatabaseUnavailable' });
        await engine.checkReady();
        for (const { status } of await counts) assert.equal(status, 'rejected');
        assert.match(logLines.join('\n'), /^A shard of MongoDB is unavailable: .*for set \d+\. Check/m);
        assert.doesNotMatch(logLines.join('\n'), /^MongoDB/m);
      }),
    ),
});

const millisecondsOf = (sent: readonly LoadResponse[]) => sent.map(({ milliseconds }) => milliseconds);

async function findIdleCursors(cluster: FakeMongos): Promise<Document[]> {
  const pipeline = [{ $currentOp: { idleCursors: true } }, { $match: { type: 'idleCursor', ns: /campaigns$/ } }];
  const found = cluster.shards.map(({ port }) =>
    withMongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, (client) =>
      client.db('admin').aggregate(pipeline).toArray(),
    ),
  );
  return (await Promise.all(found)).flat();
}
