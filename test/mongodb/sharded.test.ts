import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Document, MongoClient } from 'mongodb';
import { SearchTimeout } from '../../adapters/mongodb/connection.ts';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import type { Application } from '../../core/application.ts';
import { createCampaign, createTag, newId } from '../contract/samples.ts';
import { defineStorageContract } from '../contract/storage-contract.ts';
import { root } from '../support/compose.ts';
import { each } from '../support/each.ts';
import { assertInternalError } from '../support/ledger.ts';
import { type LoadResponse, quantile, send } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { allOperations, successStatusOf, validCallOf } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { type Router, startRouter } from '../support/router.ts';
import { isLong } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const ENDS_WITHIN_MS = 20_000;
const TIME_EXPIRED = 50;
const OUTAGE_MS = 2_000;
const EVERY_MS = 100;
const MANY = 40;

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
  await withUseCases(uri, (app) => waitUntil(() => succeeds(app.checkReady())));
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

/** The one storage of the contract: in the cluster that MONGOS names, or behind the shared router. */
let opened: Promise<ReturnType<typeof mongodbStorage> & { readonly uri: string }> | undefined;

async function openContract() {
  const uri = await newDatabase(process.env.MONGOS ?? (await sharedRouter()).uri);
  const storage = mongodbStorage(uri, () => undefined);
  await waitUntil(() => succeeds(storage.storage.checkReady()));
  return { ...storage, uri };
}

async function openStorage() {
  opened ??= openContract();
  return { storage: (await opened).storage, close: async () => undefined };
}

async function closeStorage(): Promise<void> {
  if (!opened) return;
  const { connection, uri } = await opened;
  await connection.close();
  if (process.env.MONGOS) await dropDatabase(uri);
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

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Starts shards of its own for a test that stops some. */
async function onOwnRouter(test: (router: Router, uri: string) => Promise<void>): Promise<void> {
  const router = await startRouter();
  try {
    await test(router, await newDatabase(router.uri));
  } finally {
    await router.stop();
  }
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
    await waitUntil(() => succeeds(opened.storage.checkReady()));
    await test({ ...opened, router, uri, told });
  } finally {
    await opened.connection.close();
  }
}

/** Creates a tenant with all of its records, its key and its workspace on one shard. */
async function tenantOn(shard: number, router: Router, app: Application): Promise<Tenant> {
  for (let i = 0; ; i++) {
    const tenant = await createTenant({ app }, `tenant${shard}x${i}`);
    const values = [tenant.workspaceId, createHash('sha256').update(tenant.key).digest('hex')];
    if (values.every((value) => router.shardOf(value) === shard)) return tenant;
  }
}

/** The id of a workspace on a shard. */
function workspaceOn(shard: number, router: Router): string {
  for (;;) {
    const id = newId();
    if (router.shardOf(id) === shard) return id;
  }
}

const isReady = (url: string) => send(url, { path: '/readyz' }).then(({ status }) => status === 200);

// At length: replica sets run the contract in every run, and the tests below cover the differences.
if (isLong || process.env.MONGOS) {
  suite('storage in a sharded cluster', {
    ...defineStorageContract(openStorage),
    'leaves no database behind': closeStorage,
  });
}

suite('a sharded cluster', {
  'gets each command of the API on one shard, and asks all of them only for the list of workspaces': () =>
    onStorage(async ({ router, uri }) => {
      const tenant = await withUseCases(uri, (app) => createTenant({ app }, 'tenant'));
      router.broadcasts.length = 0;
      await withProcess(onMongodb(uri), async ({ url }) => {
        await waitUntil(() => isReady(url));
        await each(allOperations, async (operation) => {
          const { path, body } = validCallOf(operation, tenant);
          const call = { method: operation.method, path, key: tenant.key, ...(body && { body }) };
          const { status, text } = await send(url, call);
          assert.equal(status, successStatusOf(operation), text);
        });
      });
      assert.deepEqual(router.broadcasts, []);
      await withUseCases(uri, async (app) => {
        const names: string[] = [];
        for await (const { name } of app.workspaces.iterate()) names.push(name);
        assert.deepEqual(names, ['tenant']);
      });
      assert.deepEqual([...new Set(router.broadcasts)], ['find workspaces']);
    }),

  'gets a retry if it cannot reach a shard in time': () =>
    onStorage(async ({ storage, connection, router }) => {
      const one = createTag(newId(), 'one');
      await storage.tags.add(one);
      const { workspaceId, id } = one;
      const reads: readonly [string, () => Promise<unknown>][] = [
        ['find', () => storage.tags.get(workspaceId, id)],
        ['find', () => storage.runInTransaction((staged) => staged.tags.get(workspaceId, id))],
        ['aggregate', async () => (await storage.tags.count(workspaceId, [])) === 1 && one],
      ];
      for (const code of [6, 50, 89, 133, 202, 407, 13388]) {
        for (const [command, read] of reads) {
          const before = connection.retries;
          router.fail(command, code, 3);
          assert.deepEqual(await read(), one, `${command} ${code}`);
          assert.equal(router.toFail, 0);
          assert.ok(connection.retries > before);
        }
      }
    }),

  'gets no retry of a search that takes too long': () =>
    onStorage(async ({ storage, router }) => {
      const where = [{ field: 'searchText', contains: 'a' }] as const;
      const query = { where, by: 'createdAt', order: 'asc', skip: 0, take: 9 } as const;
      router.fail('find', TIME_EXPIRED, 9);
      await assert.rejects(storage.campaigns.list(newId(), query), SearchTimeout);
      assert.equal(router.toFail, 8);
      router.fail('', 0, 0);
    }),

  'commits once if the result of a commit is unknown': () =>
    onStorage(async ({ storage, router }) => {
      for (const code of [TIME_EXPIRED, 133, 202]) {
        const one = createTag(newId(), 'one');
        let runs = 0;
        router.fail('commitTransaction', code, 2);
        await storage.runInTransaction(async ({ tags }) => {
          runs++;
          await tags.add(one);
        });
        assert.deepEqual([runs, router.toFail], [1, 0]);
        assert.deepEqual(await storage.tags.get(one.workspaceId, one.id), one);
      }
    }),

  'keeps no cursor of a response that is too large, with any of its routers': () =>
    onStorage(async ({ storage, router }) => {
      const workspaceId = newId();
      const description = 'x'.repeat(3_000_000);
      const added = Array.from({ length: 6 }, () => ({ ...createCampaign(workspaceId), description }));
      for (const record of added) await storage.campaigns.add(record);
      const ids = added.map(({ id }) => id).sort();
      for (let i = 0; i < 3; i++) {
        const found = await storage.campaigns.getMany(workspaceId, ids);
        assert.deepEqual(found.map(({ id }) => id).sort(), ids);
      }
      assert.deepEqual(await idleCursors(router), []);
    }),

  ends: async () => (await shared)?.stop(),
});

suite('a shard that is unavailable', {
  'fails only the requests of its own workspaces, in time, until it is available': () =>
    onOwnRouter(async (router, uri) => {
      const tenants = await withUseCases(uri, async (app) => [
        await tenantOn(0, router, app),
        await tenantOn(1, router, app),
      ]);
      const [served, failed] = tenants as [Tenant, Tenant];
      const dead = router.shards[1] as ServerProcess;
      const get = (url: string, { ids, key }: Tenant) => send(url, { path: `/campaigns/${ids.campaigns}`, key });
      const add = (url: string, { key }: Tenant, name: string) =>
        send(url, { method: 'POST', path: '/tags', key, body: { name } });
      const isServed = async (url: string, tenant: Tenant) => (await get(url, tenant)).status === 200;
      await withProcess(onMongodb(uri), async ({ url }) => {
        await waitUntil(async () => (await isServed(url, served)) && (await isServed(url, failed)));
        await dead.kill();
        const [sent, unsent, probes]: Promise<LoadResponse>[][] = [[], [], []];
        for (let i = 0; i * EVERY_MS < OUTAGE_MS; i++) {
          unsent?.push(get(url, failed), add(url, failed, `Tag ${i}`));
          sent?.push(get(url, served), add(url, served, `Tag ${i}`), get(url, served));
          probes?.push(send(url, { path: '/readyz' }));
          await delay(EVERY_MS);
        }
        const answered = await Promise.all(sent ?? []);
        for (const { status, text } of answered) assert.ok(status === 200 || status === 201, text);
        for (const { status, text } of await Promise.all(probes ?? [])) assert.equal(status, 200, text);
        const failures = await Promise.all(unsent ?? []);
        for (const it of failures) assertInternalError(it);
        assert.ok(Math.max(...millisecondsOf(failures)) < ENDS_WITHIN_MS);
        const [ofServed, ofFailed] = [answered, failures].map((of) => quantile(millisecondsOf(of), 0.5)) as [
          number,
          number,
        ];
        assert.ok(ofServed < ofFailed / 2, `${ofServed} ms, and ${ofFailed} ms of those that fail`);

        await withProcess(onMongodb(uri), async ({ url: another }) => {
          await waitUntil(() => isServed(another, served));
          assert.ok(await isReady(another));
          await dead.start();
          await waitUntil(async () => (await isServed(url, failed)) && (await isServed(another, failed)));
        });

        await Promise.all(router.shards.map((shard) => shard.kill()));
        await waitUntil(async () => !(await isReady(url)));
        await Promise.all(router.shards.map((shard) => shard.start()));
        await waitUntil(() => isReady(url));
        await waitUntil(async () => (await isServed(url, served)) && (await isServed(url, failed)));
      });
    }),

  'fails only its part of a batch, leaves connections to others, is not a conflict, and is logged': () =>
    onOwnRouter((router, uri) =>
      withStorage(router, uri, async ({ storage, connection, told }) => {
        router.hostTimeoutMs = 200;
        const [live, dead] = [workspaceOn(0, router), workspaceOn(1, router)];
        await storage.tags.add(createTag(live, 'before'));
        await (router.shards[1] as ServerProcess).kill();
        const counts = Promise.allSettled(Array.from({ length: MANY }, () => storage.tags.count(dead, [])));
        await delay(EVERY_MS);
        const used = connection.connectionsInUse + connection.waitingForConnection;
        assert.ok(used <= MANY / 2, `${used} commands have a connection or wait for one`);
        const added = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) => storage.tags.add(createTag(i % 2 ? dead : live, `Tag ${i}`))),
        );
        for (const [i, result] of added.entries()) {
          if (i % 2) assert.equal((result as PromiseRejectedResult).reason.name, 'DatabaseAway');
          else assert.equal(result.status, 'fulfilled');
        }
        assert.equal(await storage.tags.count(live, []), 11);
        const atOnce = storage.runInTransaction(({ tags }) => tags.add(createTag(dead, 'one')));
        await assert.rejects(atOnce, { name: 'DatabaseAway' });
        await storage.checkReady();
        for (const { status } of await counts) assert.equal(status, 'rejected');
        assert.match(told.join('\n'), /^A shard of MongoDB cannot be reached: .*for set \d+$/m);
        assert.doesNotMatch(told.join('\n'), /^MongoDB/m);
      }),
    ),
});

const millisecondsOf = (sent: readonly LoadResponse[]) => sent.map(({ milliseconds }) => milliseconds);

async function idleCursors(router: Router): Promise<Document[]> {
  const found = router.shards.map(async ({ port }) => {
    const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
    try {
      const left = [{ $currentOp: { idleCursors: true } }, { $match: { type: 'idleCursor', ns: /campaigns$/ } }];
      return await client.db('admin').aggregate(left).toArray();
    } finally {
      await client.close();
    }
  });
  return (await Promise.all(found)).flat();
}
