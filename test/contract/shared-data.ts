import assert from 'node:assert/strict';
import type { RecordStore } from '../../adapters/persistence/record-store.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { OpenEngine, TestEngine } from '../support/engines/engine.ts';
import type { Tests } from '../support/suite.ts';
import { assertRejectsWithConflict } from './assert-rejects-with-conflict.ts';
import { buildCampaign, buildTag, newId, type SchemaName, samples } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';
import { storeCommands } from './store-commands.ts';
import { StoreProcess } from './store-process.ts';

const CHANGE_COUNT = 20;

/**
 * Returns the tests of a database that several engines and processes can share, and that remains after they end. The
 * tests cannot show that a change survives a power failure: the operating system keeps what a killed process has
 * written, even without `fsync`.
 */
export function defineSharedDataTests(test: CreateStorageTest, engine: TestEngine): Tests {
  /** Runs a test with another process on the same data. */
  const withProcess = async (location: string, work: (other: StoreProcess) => Promise<void>) => {
    const other = new StoreProcess(engine, location);
    try {
      await work(other);
    } finally {
      await other.kill();
    }
  };
  return {
    'has all records, IDs and unique values when it is opened again': test(async (storage, { reopen }) => {
      const records = Object.entries(samples).map(([name, create]) => [name as SchemaName, create(newId())] as const);
      const credential = { id: newId(), workspaceId: newId(), keyId: newId() };
      for (const [name, record] of records) await storage[name].add(record as never);
      await storage.credentials.add(credential);
      const reopened = await reopen();
      for (const [name, record] of records) {
        const store = reopened[name] as unknown as RecordStore<Entity>;
        assert.deepEqual(await store.get(record.workspaceId, record.id), record, name);
        assert.deepEqual(await store.listById(record.workspaceId, '', 9), [record], name);
        await assertRejectsWithConflict(store.add(record));
      }
      const tag = records.find(([name]) => name === 'tags')?.[1] as Entity;
      await assertRejectsWithConflict(reopened.tags.add(buildTag(tag.workspaceId, 'Hiring')));
      assert.deepEqual(await reopened.credentials.get(credential.id), credential);
      await assertRejectsWithConflict(reopened.credentials.add(credential));
    }),

    'can be opened for the first time by several engines and processes at once': async () => {
      const { location, remove } = await engine.createUnopenedDatabase();
      const processes = [1, 2, 3].map(() => new StoreProcess(engine, location));
      const opened: OpenEngine[] = [];
      try {
        await Promise.all(processes.map(({ loaded }) => loaded));
        const workspaceId = newId();
        const tags = ['a', 'b', 'c', 'd', 'e'].map((name) => buildTag(workspaceId, name));
        const addTag = async (tag: (typeof tags)[number], i: number) => {
          const other = processes[i];
          if (other) return other.run('call', 'tags', 'add', tag);
          const own = await engine.open(location, Date.now);
          opened.push(own);
          return own.engine.tags.add(tag);
        };
        await Promise.all(tags.map(addTag));
        for (const { engine: storage } of opened)
          assert.deepEqual(await storage.tags.listById(workspaceId, '', 9), tags);
      } finally {
        for (const other of processes) await other.kill();
        for (const { close } of opened) await close();
        await remove();
      }
    },

    'shows each change of one of two processes to the other process immediately': test((storage, { location }) =>
      withProcess(location, async (other) => {
        const workspaceId = newId();
        const [mine, theirs] = [buildTag(workspaceId, 'mine'), buildTag(workspaceId, 'theirs')];
        await other.run('call', 'tags', 'add', theirs);
        assert.deepEqual(await storage.tags.get(workspaceId, theirs.id), theirs);
        await assertRejectsWithConflict(storage.tags.add(buildTag(workspaceId, 'theirs')));
        await storage.tags.add(mine);
        assert.deepEqual(await other.run('call', 'tags', 'get', workspaceId, mine.id), mine);
        await assert.rejects(other.run('call', 'tags', 'add', buildTag(workspaceId, 'mine')), { message: 'conflict' });
        const changed = await storage.tags.update(workspaceId, theirs.id, (it) => ({ ...it, foldedName: 'changed' }));
        assert.deepEqual(await other.run('call', 'tags', 'get', workspaceId, theirs.id), changed);
        await other.run('call', 'tags', 'remove', workspaceId, mine.id);
        assert.deepEqual(await storage.tags.listById(workspaceId, '', 9), [changed]);
      }),
    ),

    'returns no record of any schema that another process has removed': test((storage, { location }) =>
      withProcess(location, async (other) => {
        for (const [name, create] of Object.entries(samples) as [SchemaName, (typeof samples)[SchemaName]][]) {
          const record = create(newId());
          const { workspaceId, id } = record;
          const store = storage[name] as unknown as RecordStore<Entity>;
          await store.add(record);
          assert.deepEqual(await store.get(workspaceId, id), record, name);
          assert.deepEqual(await store.listById(workspaceId, '', 9), [record], name);
          await other.run('call', name, 'remove', workspaceId, id);
          assert.equal(await store.get(workspaceId, id), undefined, name);
          assert.deepEqual(await store.listById(workspaceId, '', 9), [], name);
        }
      }),
    ),

    'loses no change that two engines and another process make to one record at the same time': test(
      (storage, { location, openAnother }) =>
        withProcess(location, async (other) => {
          const another = await openAnother();
          const campaign = buildCampaign(newId());
          const { workspaceId, id } = campaign;
          await storage.campaigns.add(campaign);
          // The first command waits until the process has started.
          await other.run('click', workspaceId, id, 1);
          const changes = [workspaceId, id, CHANGE_COUNT] as const;
          for (const name of ['click', 'share'] as const) {
            await Promise.all([
              other.run(name, ...changes),
              storeCommands[name](storage, ...changes),
              storeCommands[name](another, ...changes),
            ]);
          }
          await Promise.all([other.run('click', ...changes), storeCommands.share(storage, ...changes)]);
          const { clicks, shares } = (await storage.campaigns.get(workspaceId, id)) ?? {};
          assert.deepEqual([clicks, shares], [1 + 4 * CHANGE_COUNT, 4 * CHANGE_COUNT]);
          assert.equal(await another.shares.count(workspaceId, []), shares);
        }),
    ),

    'lets only one of several engines and processes add a global record': test((storage, { location, openAnother }) =>
      withProcess(location, async (other) => {
        const another = await openAnother();
        const slugs = Array.from({ length: CHANGE_COUNT }, () => `${newId()}.example`);
        const claimed = await Promise.all([
          other.run('claim', newId(), slugs),
          storeCommands.claim(storage, newId(), slugs),
          storeCommands.claim(another, newId(), slugs),
        ]);
        assert.deepEqual(claimed.flat().sort(), slugs);
      }),
    ),

    'keeps completed changes of a killed process, discards its open transaction, and can change other records': test(
      (storage, { location }) =>
        withProcess(location, async (other) => {
          const campaign = buildCampaign(newId());
          const { workspaceId, id } = campaign;
          const tag = buildTag(workspaceId, 'added');
          await storage.campaigns.add(campaign);
          await other.run('call', 'tags', 'add', tag);
          await other.run('startTransaction', workspaceId, id);
          await other.kill();
          assert.deepEqual(await storage.campaigns.get(workspaceId, id), campaign);
          await storage.campaigns.add(buildCampaign(workspaceId));
          assert.deepEqual(await storage.tags.listById(workspaceId, '', 9), [tag]);
        }),
    ),
  };
}
