import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import type { Storage } from '../../core/storage.ts';
import { assertConflict } from '../contract/assert-conflict.ts';
import { createCampaign, createTag, newId } from '../contract/samples.ts';
import { each } from '../support/each.ts';
import { type Database, mongod } from '../support/mongod.ts';
import { type MongodbProxy, mongodbProxy } from '../support/mongodb-proxy.ts';
import { isLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';

/** A storage on a way that loses commands, and another one on the same database that loses none. */
interface Both {
  readonly lossy: Storage;
  readonly sound: Storage;
  readonly proxy: MongodbProxy;
}

/** After one loss the driver tries again by itself; after two the adapter has to. */
const losses = (['request', 'answer'] as const).flatMap((what) =>
  [1, 2].map((times) => [`${what} lost ${times} times`, { what, times }] as const),
);

/** Does something under every loss of a command. */
function underLosses(command: string, work: (both: Both, lose: () => void) => Promise<void>) {
  return () =>
    withBoth((both) =>
      each(losses, async ({ what, times }) => {
        await work(both, () => both.proxy.lose(command, what, times));
        assert.equal(both.proxy.toLose, 0, 'it was lost');
      }),
    );
}

let database: Promise<Database> | undefined;

async function withBoth(work: (both: Both) => Promise<void>): Promise<void> {
  database ??= mongod();
  const { uri } = await database;
  const proxy = await mongodbProxy(uri);
  const [lossy, sound] = [proxy.uri, uri].map((at) => mongodbStorage(at, () => undefined)) as [Opened, Opened];
  try {
    await Promise.all([lossy.connection.firstAttempt(), sound.connection.firstAttempt()]);
    await work({ lossy: lossy.storage, sound: sound.storage, proxy });
  } finally {
    await Promise.all([lossy.connection.close(), sound.connection.close()]);
    await proxy.close();
  }
}

type Opened = ReturnType<typeof mongodbStorage>;

const clicked = (it: Campaign): Campaign => ({ ...it, clicks: it.clicks + 1 });

suite('a command that is lost on the way', {
  'adds a record once': underLosses('insert', async ({ lossy, sound }, lose) => {
    const added = createTag(newId(), 'one');
    lose();
    await lossy.tags.add(added);
    assert.deepEqual(await sound.tags.get(added.workspaceId, added.id), added);
    assert.equal(await sound.tags.count(added.workspaceId, []), 1);
  }),

  'adds an entry of a registry once': underLosses('insert', async ({ lossy, sound }, lose) => {
    const entry = { id: newId(), workspaceId: newId(), keyId: newId() };
    lose();
    await lossy.credentials.add(entry);
    assert.deepEqual(await sound.credentials.get(entry.id), entry);
    await assertConflict(lossy.credentials.add(entry));
  }),

  'refuses what was taken before': underLosses('insert', async ({ lossy, sound }, lose) => {
    const taken = createTag(newId(), 'one');
    await sound.tags.add(taken);
    lose();
    await assertConflict(lossy.tags.add({ ...taken, id: newId() }));
    assert.equal(await sound.tags.count(taken.workspaceId, []), 1);
  }),

  'adds many records once each, and tells which are refused': underLosses('insert', async ({ lossy, sound }, lose) => {
    const workspaceId = newId();
    const taken = createTag(workspaceId, 'taken');
    await sound.tags.add(taken);
    const [one, other, two] = ['one', 'taken', 'two'].map((name) => createTag(workspaceId, name));
    lose();
    const refusals = await lossy.tags.addMany([one, other, two, one].map((it) => it as typeof taken));
    assert.deepEqual([...refusals.keys()].sort(), [1, 3]);
    assert.deepEqual(
      (await sound.tags.listById(workspaceId, '', 9)).map(({ name }) => name),
      ['taken', 'one', 'two'],
    );
  }),

  'changes a record once': underLosses('update', async ({ lossy, sound }, lose) => {
    const before = createCampaign(newId());
    await sound.campaigns.add(before);
    lose();
    const after = { ...before, clicks: 1 };
    assert.deepEqual(await lossy.campaigns.update(before.workspaceId, before.id, clicked), after);
    assert.deepEqual(await sound.campaigns.get(before.workspaceId, before.id), after);
  }),

  'removes a record, and says that it was there': underLosses('delete', async ({ lossy, sound }, lose) => {
    const removed = createTag(newId(), 'gone');
    await sound.tags.add(removed);
    lose();
    assert.equal(await lossy.tags.remove(removed.workspaceId, removed.id), true);
    assert.equal(await sound.tags.get(removed.workspaceId, removed.id), undefined);
  }),

  'removes an entry of a registry, and says that it was there': underLosses(
    'delete',
    async ({ lossy, sound }, lose) => {
      const entry = { id: newId(), workspaceId: newId(), keyId: newId() };
      await sound.credentials.add(entry);
      lose();
      assert.equal(await lossy.credentials.remove(entry.id), true);
      assert.equal(await sound.credentials.get(entry.id), undefined);
    },
  ),

  'reads as if nothing had been': underLosses('find', async ({ lossy, sound }, lose) => {
    const it = createTag(newId(), 'read');
    await sound.tags.add(it);
    lose();
    assert.deepEqual(await lossy.tags.get(it.workspaceId, it.id), it);
  }),
});

suite('a command of a transaction that is lost on the way', {
  ...Object.fromEntries(
    ['find', 'insert', 'update', 'delete', 'commitTransaction'].map((command) => [
      `keeps all changes once where it is ${command}`,
      underLosses(command, async ({ lossy, sound }, lose) => {
        const before = createCampaign(newId());
        const { workspaceId, id } = before;
        const removed = createTag(workspaceId, 'removed');
        await sound.campaigns.add(before);
        await sound.tags.add(removed);
        const added = createTag(workspaceId, 'added');
        lose();
        const returned = await lossy.runInTransaction(async ({ campaigns, tags }) => {
          await tags.add(added);
          const wasThere = await tags.remove(workspaceId, removed.id);
          return [wasThere, await campaigns.update(workspaceId, id, clicked)];
        });
        assert.deepEqual(returned, [true, { ...before, clicks: 1 }]);
        assert.equal((await sound.campaigns.get(workspaceId, id))?.clicks, 1);
        assert.deepEqual(await sound.tags.listById(workspaceId, '', 9), [added]);
      }),
    ]),
  ),
});

/** Longer than a client looks for a server, and shorter than the adapter tries. */
const AWAY_MS = 6_000;

suite('a commit whose answer is lost', {
  'is not done again when the database is away for seconds after it': () =>
    withBoth(async ({ lossy, sound, proxy }) => {
      const before = createCampaign(newId());
      const { workspaceId, id } = before;
      await sound.campaigns.add(before);
      proxy.lose('commitTransaction', 'answer', 1, async () => {
        proxy.isAway = true;
        setTimeout(() => (proxy.isAway = false), AWAY_MS);
      });
      await lossy.runInTransaction(({ campaigns }) => campaigns.update(workspaceId, id, clicked));
      assert.equal(proxy.toLose, 0);
      assert.equal((await sound.campaigns.get(workspaceId, id))?.clicks, 1);
    }),

  ...(isLong && {
    'is not done again either when the database is away for longer than anybody waits': () =>
      withBoth(async ({ lossy, sound, proxy }) => {
        const before = createCampaign(newId());
        const { workspaceId, id } = before;
        await sound.campaigns.add(before);
        proxy.lose('commitTransaction', 'answer', 1, async () => (proxy.isAway = true));
        await assert.rejects(lossy.runInTransaction(({ campaigns }) => campaigns.update(workspaceId, id, clicked)));
        proxy.isAway = false;
        await delay(AWAY_MS);
        assert.equal((await sound.campaigns.get(workspaceId, id))?.clicks, 1);
      }),
  }),
});

suite('a change that is lost on the way while others change the record', {
  'is never applied twice': () =>
    withBoth(({ lossy, sound, proxy }) =>
      each(losses, async ({ what, times }) => {
        const before = createCampaign(newId());
        const { workspaceId, id } = before;
        await sound.campaigns.add(before);
        const meanwhile = () => sound.campaigns.update(workspaceId, id, (it) => ({ ...it, shares: it.shares + 1 }));
        proxy.lose('update', what, times, meanwhile);
        const outcome = await lossy.campaigns.update(workspaceId, id, clicked).catch((error: Error) => error);
        const after = (await sound.campaigns.get(workspaceId, id)) as Campaign;
        assert.equal(after.shares, times);
        if (outcome instanceof Error) assert.match(outcome.message, /unknown/);
        else assert.equal(outcome?.clicks, 1);
        assert.ok(after.clicks <= 1 && (outcome instanceof Error || after.clicks === 1), `${after.clicks} clicks`);
        if (times === 1) assert.equal(after.clicks, 1);
      }),
    ),

  'leaves no database behind': async () => (await database)?.stop(),
});
