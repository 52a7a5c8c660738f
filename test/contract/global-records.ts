import assert from 'node:assert/strict';
import type { GlobalRecordStore } from '../../core/shared/record-store.ts';
import type { Storage } from '../../core/storage.ts';
import type { Tests } from '../support/suite.ts';
import { assertConflict } from './assert-conflict.ts';
import { newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

/** Returns the tests of the entries that do not belong to a workspace. */
export function defineGlobalRecordTests(test: CreateStorageTest): Tests {
  return {
    'stores entries of all workspaces by their ids': test(async (storage) => {
      for (const { entries, createEntry } of listGlobalStores(storage)) {
        const first = createEntry();
        const expected = { ...first };
        assert.equal(await entries.get(first.id), undefined);
        await entries.add(first);
        Reflect.set(first, 'workspaceId', 'changed');
        Reflect.set((await entries.get(expected.id)) ?? {}, 'workspaceId', 'changed');
        assert.deepEqual(await entries.get(expected.id), expected);
        await assertConflict(entries.add({ ...createEntry(), id: expected.id }));
        assert.deepEqual(await entries.get(expected.id), expected);
      }
    }),

    'iterates over all entries in the order of their ids': test(async (storage) => {
      for (const { entries, createEntry } of listGlobalStores(storage)) {
        const [before, first, second, third] = [createEntry(), createEntry(), createEntry(), createEntry()];
        for (const it of [second, third, first]) await entries.add(it);
        assert.deepEqual(await entries.list(before.id, 2), [first, second]);
        assert.deepEqual((await entries.list(first.id, 9)).slice(0, 2), [second, third]);
        assert.equal((await entries.list('', 2)).length, 2);
        Reflect.set((await entries.list(before.id, 1))[0] ?? {}, 'id', 'changed');
        assert.deepEqual(await entries.list(before.id, 1), [first]);
      }
    }),

    'frees the id of a removed entry': test(async (storage) => {
      for (const { entries, createEntry } of listGlobalStores(storage)) {
        const { id } = createEntry();
        await entries.add({ ...createEntry(), id });
        assert.equal(await entries.remove(id), true);
        assert.equal(await entries.remove(id), false);
        assert.equal(await entries.get(id), undefined);
        await entries.add({ ...createEntry(), id });
      }
    }),

    'adds only one of several concurrent entries with the same id': test(async ({ verifiedSlugs }) => {
      const id = `${newId()}.example`;
      const claim = () => verifiedSlugs.add({ id, workspaceId: newId(), domainId: newId() });
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, claim));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    }),
  };
}

type Entry = { readonly id: string };

function listGlobalStores(storage: Storage): { entries: GlobalRecordStore<Entry>; createEntry: () => Entry }[] {
  const { credentials, verifiedSlugs, workspaces } = storage;
  return [
    { entries: credentials, createEntry: () => ({ id: newId(), workspaceId: newId(), keyId: newId() }) },
    { entries: verifiedSlugs, createEntry: () => ({ id: newId(), workspaceId: newId(), domainId: newId() }) },
    {
      entries: workspaces,
      createEntry: () => ({ id: newId(), name: 'Northwind', createdAt: '2026-03-01T12:00:00.000Z' }),
    },
  ] as { entries: GlobalRecordStore<Entry>; createEntry: () => Entry }[];
}
