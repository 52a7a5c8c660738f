import assert from 'node:assert/strict';
import type { GlobalRecordStore } from '../../core/shared/record-store.ts';
import type { Storage } from '../../core/storage.ts';
import { assertConflict } from './conflict.ts';
import type { OnStorage, Tests } from './on-storage.ts';
import { newId } from './samples.ts';

/** What every storage does with the entries that are of no workspace. */
export function registry(test: OnStorage): Tests {
  return {
    'keeps entries of all workspaces by their ids': test(async (storage) => {
      for (const { entries, entry } of everyRegistry(storage)) {
        const first = entry();
        const expected = { ...first };
        assert.equal(await entries.get(first.id), undefined);
        await entries.add(first);
        Reflect.set(first, 'workspaceId', 'scribbled');
        Reflect.set((await entries.get(expected.id)) ?? {}, 'workspaceId', 'scribbled');
        assert.deepEqual(await entries.get(expected.id), expected);
        await assertConflict(entries.add({ ...entry(), id: expected.id }));
        assert.deepEqual(await entries.get(expected.id), expected);
      }
    }),

    'goes through all entries in the order of their ids': test(async (storage) => {
      for (const { entries, entry } of everyRegistry(storage)) {
        const [before, first, second, third] = [entry(), entry(), entry(), entry()];
        for (const it of [second, third, first]) await entries.add(it);
        assert.deepEqual(await entries.list(before.id, 2), [first, second]);
        assert.deepEqual((await entries.list(first.id, 9)).slice(0, 2), [second, third]);
        assert.equal((await entries.list('', 2)).length, 2);
        Reflect.set((await entries.list(before.id, 1))[0] ?? {}, 'id', 'scribbled');
        assert.deepEqual(await entries.list(before.id, 1), [first]);
      }
    }),

    'frees the id of an entry that is removed': test(async (storage) => {
      for (const { entries, entry } of everyRegistry(storage)) {
        const { id } = entry();
        await entries.add({ ...entry(), id });
        assert.equal(await entries.remove(id), true);
        assert.equal(await entries.remove(id), false);
        assert.equal(await entries.get(id), undefined);
        await entries.add({ ...entry(), id });
      }
    }),

    'gives an id to one of many entries that want it at once': test(async ({ verifiedSlugs }) => {
      const id = `${newId()}.example`;
      const claim = () => verifiedSlugs.add({ id, workspaceId: newId(), domainId: newId() });
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, claim));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    }),
  };
}

type Entry = { readonly id: string };

function everyRegistry(storage: Storage): { entries: GlobalRecordStore<Entry>; entry: () => Entry }[] {
  const { credentials, verifiedSlugs, workspaces } = storage;
  return [
    { entries: credentials, entry: () => ({ id: newId(), workspaceId: newId(), keyId: newId() }) },
    { entries: verifiedSlugs, entry: () => ({ id: newId(), workspaceId: newId(), domainId: newId() }) },
    { entries: workspaces, entry: () => ({ id: newId(), name: 'Northwind', createdAt: '2026-03-01T12:00:00.000Z' }) },
  ] as { entries: GlobalRecordStore<Entry>; entry: () => Entry }[];
}
