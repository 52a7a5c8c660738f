import assert from 'node:assert/strict';
import type { GlobalRecordStore } from '../../adapters/persistence/record-store.ts';
import { globalStoreNames, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Tests } from '../support/suite.ts';
import { assertRejectsWithConflict } from './assert-rejects-with-conflict.ts';
import { newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

/** Returns the tests of the global stores: their records are unique over all workspaces, and are read by ID alone. */
export function defineGlobalRecordTests(test: CreateStorageTest): Tests {
  return {
    'returns a global record as it was added, and rejects a second record with the same ID': test(async (storage) => {
      for (const { records, createRecord } of listGlobalStores(storage)) {
        const first = createRecord();
        const expected = { ...first };
        assert.equal(await records.get(first.id), undefined);
        await records.add(first);
        Reflect.set(first, 'workspaceId', 'changed');
        Reflect.set((await records.get(expected.id)) ?? {}, 'workspaceId', 'changed');
        assert.deepEqual(await records.get(expected.id), expected);
        await assertRejectsWithConflict(records.add({ ...createRecord(), id: expected.id }));
        assert.deepEqual(await records.get(expected.id), expected);
      }
    }),

    'lists the global records whose IDs follow a given ID, in the order of their IDs': test(async (storage) => {
      for (const { records, createRecord } of listGlobalStores(storage)) {
        const [before, first, second, third] = [createRecord(), createRecord(), createRecord(), createRecord()];
        for (const it of [second, third, first]) await records.add(it);
        assert.deepEqual(await records.list(before.id, 2), [first, second]);
        assert.deepEqual((await records.list(first.id, 9)).slice(0, 2), [second, third]);
        assert.equal((await records.list('', 2)).length, 2);
        Reflect.set((await records.list(before.id, 1))[0] ?? {}, 'id', 'changed');
        assert.deepEqual(await records.list(before.id, 1), [first]);
      }
    }),

    'frees the ID of a removed global record': test(async (storage) => {
      for (const { records, createRecord } of listGlobalStores(storage)) {
        const { id } = createRecord();
        await records.add({ ...createRecord(), id });
        assert.equal(await records.remove(id), true);
        assert.equal(await records.remove(id), false);
        assert.equal(await records.get(id), undefined);
        await records.add({ ...createRecord(), id });
      }
    }),

    'adds only one of several concurrent global records with the same ID': test(async ({ verifiedSlugs }) => {
      const id = `${newId()}.example`;
      const claim = () => verifiedSlugs.add({ id, workspaceId: newId(), domainId: newId() });
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, claim));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    }),
  };
}

type WithId = { readonly id: string };

/** Functions that create a record, by the name of its global store. */
const creators: Readonly<Record<(typeof globalStoreNames)[number], () => WithId>> = {
  credentials: () => ({ id: newId(), workspaceId: newId(), keyId: newId() }),
  links: () => ({ id: newId(), workspaceId: newId(), campaignId: newId(), memberId: newId() }),
  verifiedSlugs: () => ({ id: newId(), workspaceId: newId(), domainId: newId() }),
  visitorKeys: () => ({ id: newId(), secret: newId() }),
  webhookWorkspaces: () => ({ id: newId(), workspaceId: newId() }),
  workspaces: () => ({ id: newId(), name: 'Northwind', createdAt: '2026-03-01T12:00:00.000Z' }),
};

function listGlobalStores(
  storage: StorageEngine,
): { records: GlobalRecordStore<WithId>; createRecord: () => WithId }[] {
  return globalStoreNames.map((name) => ({
    records: storage[name] as GlobalRecordStore<WithId>,
    createRecord: creators[name],
  }));
}
