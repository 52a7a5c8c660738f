import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { assertRejectsWithConflict } from '../contract/assert-rejects-with-conflict.ts';
import { buildCampaign, buildTag, newId } from '../contract/samples.ts';
import { each } from '../support/each.ts';
import { createDatabase, type MongoDatabase } from '../support/mongod.ts';
import { type MongodbProxy, startMongodbProxy } from '../support/mongodb-proxy.ts';
import { isLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';

/** A storage behind a proxy that loses commands, and a storage without a proxy on the same database. */
interface Storages {
  readonly lossy: StorageEngine;
  readonly reliable: StorageEngine;
  readonly proxy: MongodbProxy;
}

/**
 * Outside a transaction, the driver itself retries after one loss, and the adapter must retry after two. In a
 * transaction, the driver retries only the commit.
 */
const losses = (['request', 'response'] as const).flatMap((what) =>
  [1, 2].map((times) => [`${what} lost ${times} times`, { what, times }] as const),
);

let database: Promise<MongoDatabase> | undefined;

async function withStorages(work: (storages: Storages) => Promise<void>): Promise<void> {
  database ??= createDatabase();
  const { uri } = await database;
  const proxy = await startMongodbProxy(uri);
  const [lossy, reliable] = [proxy.uri, uri].map((at) => createMongodbEngine(at, () => undefined)) as [Opened, Opened];
  try {
    await Promise.all([lossy.connection.waitForStartup(), reliable.connection.waitForStartup()]);
    await work({ lossy: lossy.engine, reliable: reliable.engine, proxy });
  } finally {
    await Promise.all([lossy.connection.close(), reliable.connection.close()]);
    await proxy.close();
  }
}

type Opened = ReturnType<typeof createMongodbEngine>;

const addClick = (it: CampaignRecord): CampaignRecord => ({ ...it, clicks: it.clicks + 1 });

const retries: Readonly<
  Record<string, readonly [command: string, work: (storages: Storages, lose: () => void) => Promise<void>]>
> = {
  'adds a record once': [
    'insert',
    async ({ lossy, reliable }, lose) => {
      const added = buildTag(newId(), 'one');
      lose();
      await lossy.tags.add(added);
      assert.deepEqual(await reliable.tags.listById(added.workspaceId, '', 9), [added]);
    },
  ],
  'adds each of several simultaneous records once, and rejects a name that another record has': [
    'insert',
    async ({ lossy, reliable }, lose) => {
      const workspaceId = newId();
      await reliable.tags.add(buildTag(workspaceId, 'taken'));
      lose();
      const names = ['one', 'taken', 'two'];
      const added = await Promise.allSettled(names.map((name) => lossy.tags.add(buildTag(workspaceId, name))));
      assert.deepEqual(
        added.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal(await reliable.tags.count(workspaceId, []), 3);
    },
  ],
  'adds a record of a global store once': [
    'insert',
    async ({ lossy, reliable }, lose) => {
      const record = { id: newId(), workspaceId: newId(), keyId: newId() };
      lose();
      await lossy.credentials.add(record);
      assert.deepEqual(await reliable.credentials.get(record.id), record);
      await assertRejectsWithConflict(lossy.credentials.add(record));
    },
  ],
  'changes a record once': [
    'update',
    async ({ lossy, reliable }, lose) => {
      const before = buildCampaign(newId());
      await reliable.campaigns.add(before);
      lose();
      const after = { ...before, clicks: 1 };
      assert.deepEqual(await lossy.campaigns.update(before.workspaceId, before.id, addClick), after);
      assert.deepEqual(await reliable.campaigns.get(before.workspaceId, before.id), after);
    },
  ],
  'removes a record, also of a global store, and returns that it existed': [
    'delete',
    async ({ lossy, reliable }, lose) => {
      const removed = buildTag(newId(), 'removed');
      const credential = { id: newId(), workspaceId: newId(), keyId: newId() };
      await reliable.tags.add(removed);
      await reliable.credentials.add(credential);
      lose();
      assert.equal(await lossy.tags.remove(removed.workspaceId, removed.id), true);
      lose();
      assert.equal(await lossy.credentials.remove(credential.id), true);
      assert.equal(await reliable.tags.get(removed.workspaceId, removed.id), undefined);
      assert.equal(await reliable.credentials.get(credential.id), undefined);
    },
  ],
  'reads a record': [
    'find',
    async ({ lossy, reliable }, lose) => {
      const record = buildTag(newId(), 'read');
      await reliable.tags.add(record);
      lose();
      assert.deepEqual(await lossy.tags.get(record.workspaceId, record.id), record);
    },
  ],
  ...Object.fromEntries(
    ['find', 'update', 'delete', 'commitTransaction'].map((command) => [
      `stores all changes of a transaction once: ${command}`,
      [
        command,
        async ({ lossy, reliable }: Storages, lose: () => void) => {
          const before = buildCampaign(newId());
          const { workspaceId, id } = before;
          const removed = buildTag(workspaceId, 'removed');
          await reliable.campaigns.add(before);
          await reliable.tags.add(removed);
          const added = buildTag(workspaceId, 'added');
          lose();
          const returned = await lossy.runInTransaction(async ({ campaigns, tags }) => {
            await tags.add(added);
            const wasFound = await tags.remove(workspaceId, removed.id);
            return [wasFound, await campaigns.update(workspaceId, id, addClick)];
          });
          assert.deepEqual(returned, [true, { ...before, clicks: 1 }]);
          assert.equal((await reliable.campaigns.get(workspaceId, id))?.clicks, 1);
          assert.deepEqual(await reliable.tags.listById(workspaceId, '', 9), [added]);
        },
      ],
    ]),
  ),
};

suite('a retry of a lost command', {
  'has an effect once': () =>
    withStorages((storages) =>
      each(retries, async ([command, work], name) => {
        for (const [loss, { what, times }] of losses) {
          await work(storages, () => storages.proxy.lose(command, what, times));
          assert.equal(storages.proxy.remainingLossCount, 0, `${name}: ${loss}`);
        }
      }),
    ),
});

/** Longer than the server selection timeout of the driver, and shorter than the time for which the adapter retries. */
const OUTAGE_MS = 6_000;
/** Long enough for a late retry to reach the database. */
const LATE_RETRY_MS = 6_000;

suite(
  'a commit whose response is lost',
  {
    'is applied once if the database is unavailable for some seconds afterwards': () =>
      withStorages(async ({ lossy, reliable, proxy }) => {
        const before = buildCampaign(newId());
        const { workspaceId, id } = before;
        await reliable.campaigns.add(before);
        proxy.lose('commitTransaction', 'response', 1, async () => {
          proxy.isUnavailable = true;
          setTimeout(() => (proxy.isUnavailable = false), OUTAGE_MS);
        });
        await lossy.runInTransaction(({ campaigns }) => campaigns.update(workspaceId, id, addClick));
        assert.equal(proxy.remainingLossCount, 0);
        assert.equal((await reliable.campaigns.get(workspaceId, id))?.clicks, 1);
      }),
  },
  isLong
    ? {
        'is applied once if the database is unavailable for longer than all timeouts': () =>
          withStorages(async ({ lossy, reliable, proxy }) => {
            const before = buildCampaign(newId());
            const { workspaceId, id } = before;
            await reliable.campaigns.add(before);
            proxy.lose('commitTransaction', 'response', 1, async () => (proxy.isUnavailable = true));
            await assert.rejects(
              lossy.runInTransaction(({ campaigns }) => campaigns.update(workspaceId, id, addClick)),
            );
            proxy.isUnavailable = false;
            await delay(LATE_RETRY_MS);
            assert.equal((await reliable.campaigns.get(workspaceId, id))?.clicks, 1);
          }),
      }
    : {},
);

suite('a lost change of a record that another client changes at the same time', {
  'is never applied twice': () =>
    withStorages(({ lossy, reliable, proxy }) =>
      each(losses, async ({ what, times }) => {
        const before = buildCampaign(newId());
        const { workspaceId, id } = before;
        await reliable.campaigns.add(before);
        const onLoss = () => reliable.campaigns.update(workspaceId, id, (it) => ({ ...it, shares: it.shares + 1 }));
        proxy.lose('update', what, times, onLoss);
        const outcome = await lossy.campaigns.update(workspaceId, id, addClick).catch((error: Error) => error);
        const after = (await reliable.campaigns.get(workspaceId, id)) as CampaignRecord;
        assert.equal(after.shares, times);
        if (outcome instanceof Error) assert.match(outcome.message, /unknown/);
        else assert.equal(outcome?.clicks, 1);
        assert.ok(after.clicks <= 1 && (outcome instanceof Error || after.clicks === 1), `${after.clicks} clicks`);
        if (times === 1) assert.equal(after.clicks, 1);
      }),
    ),

  'clean-up: drops the database': async () => (await database)?.stop(),
});
