import assert from 'node:assert/strict';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { ConflictReason, RecordSchema, RecordStore } from '../../adapters/persistence/record-store.ts';
import { recordSchemas, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { TagRecord } from '../../adapters/persistence/tags.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { addAll } from '../support/add-all.ts';
import type { Tests } from '../support/suite.ts';
import { assertRejectsWithConflict } from './assert-rejects-with-conflict.ts';
import { buildCampaign, buildTag, newId, type SchemaName, samples } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

/** Returns the tests of the methods of a record store, except tests of filters, pages and expiry. */
export function defineRecordTests(test: CreateStorageTest): Tests {
  return {
    'returns a record of every schema as it was added': test(async (storage) => {
      for (const { records, createSample } of listStores(storage)) {
        const added = createSample(newId());
        const { workspaceId, id } = added;
        const expected = structuredClone(added);
        await records.add(added);
        assert.deepEqual(await records.get(workspaceId, id), expected);
        assert.deepEqual(await records.getMany(workspaceId, [id]), [expected]);
        assert.deepEqual(await records.update(workspaceId, id, (current) => current), expected);
      }
    }),

    'returns each existing record once if a read includes unknown and repeated IDs': test(async ({ tags }) => {
      const workspaceId = newId();
      const [one, two, three] = ['one', 'two', 'three'].map((name) => buildTag(workspaceId, name)) as [
        TagRecord,
        TagRecord,
        TagRecord,
      ];
      for (const it of [one, two, three]) await tags.add(it);
      assert.deepEqual(await tags.getMany(workspaceId, []), []);
      const found = await tags.getMany(workspaceId, [three.id, newId(), one.id, three.id]);
      assert.deepEqual(found.map(({ name }) => name).sort(), ['one', 'three']);
      assert.equal(await tags.get(workspaceId, newId()), undefined);
    }),

    'returns the requested fields to each of several concurrent reads by ID': test(async (storage) => {
      for (const { name, records, createSample } of listStores(storage)) {
        const added = createSample(newId());
        const { workspaceId, id } = added;
        await records.add(added);
        const fields = Object.keys(added) as (keyof Entity)[];
        const selections = [[], ...fields.map((field) => [field]), fields, undefined];
        const reads = selections.flatMap((selection) => [
          records.get(workspaceId, id, selection),
          records.getMany(workspaceId, [id], selection).then(([found]) => found),
        ]);
        const found = await Promise.all(reads);
        for (const [i, selection] of selections.entries()) {
          for (const record of found.slice(2 * i, 2 * i + 2)) {
            for (const field of ['id', ...(selection ?? fields)] as (keyof Entity)[]) {
              assert.deepEqual(record?.[field], added[field], `${field} of ${name}`);
            }
          }
        }
        assert.equal(await records.get(workspaceId, newId(), fields.slice(0, 1)), undefined);
      }
    }),

    'rejects an ID that is taken, and keeps the existing record': test(async ({ campaigns }) => {
      const first = buildCampaign(newId(), { name: 'first' });
      await campaigns.add(first);
      await assertRejectsWithConflict(campaigns.add({ ...first, name: 'second' }));
      assert.deepEqual(await campaigns.get(first.workspaceId, first.id), first);
      assert.equal(await campaigns.count(first.workspaceId, []), 1);
      const foreign = { ...first, workspaceId: newId() };
      await assertRejectsWithConflict(campaigns.add(foreign));
      assert.equal(await campaigns.count(foreign.workspaceId, []), 0);
    }),

    'does not change a record if the caller modifies a passed or returned value': test((storage) =>
      forEachStore(storage, async ({ name, records, createSample, orders }) => {
        const added = createSample(newId());
        const { workspaceId, id } = added;
        const expected = structuredClone(added);
        const assertUnchanged = async (after: string) =>
          assert.deepEqual(await records.get(workspaceId, id), expected, `${name} after ${after}`);

        await records.add(added);
        mutate(added);
        await assertUnchanged('add');
        mutate(await records.get(workspaceId, id));
        await assertUnchanged('get');
        mutate(await records.getMany(workspaceId, [id]));
        await assertUnchanged('getMany');
        mutate(await records.listById(workspaceId, '', 9));
        await assertUnchanged('listById');
        for (const by of orders) {
          mutate(await records.list(workspaceId, { where: [], by, order: 'asc', skip: 0, take: 9 }));
          await assertUnchanged(`list by ${by}`);
          const listed = await records.list(workspaceId, { where: [], by, order: 'desc', skip: 0, take: 9 });
          assert.deepEqual(listed, [expected]);
        }
        const mutateAndReturn = (current: Entity) => {
          mutate(current);
          return current;
        };
        mutate(await records.update(workspaceId, id, mutateAndReturn));
        await assertUnchanged('update to the same value');
        const replacement = structuredClone(expected);
        mutate(await records.update(workspaceId, id, () => replacement));
        mutate(replacement);
        await assertUnchanged('update');
        mutate(await records.get(workspaceId, id));
        await assertUnchanged('get after update');
      }),
    ),

    'does not read, count, change or remove records of another workspace': test((storage) =>
      forEachStore(storage, async ({ name, records, createSample, orders }) => {
        const [mine, foreign] = [createSample(newId()), createSample(newId())];
        await records.add(mine);
        await records.add(foreign);
        const { workspaceId } = mine;
        const { id } = foreign;

        assert.equal(await records.get(workspaceId, id), undefined, name);
        assert.deepEqual(await records.getMany(workspaceId, [id, mine.id]), [mine], name);
        for (const by of orders) {
          const page = { by, order: 'desc', skip: 0, take: 9 } as const;
          assert.deepEqual(await records.list(workspaceId, { ...page, where: [] }), [mine], `${name} by ${by}`);
          const where = [{ field: 'id', in: [id] }] as const;
          assert.deepEqual(await records.list(workspaceId, { ...page, where }), [], `${name} by ${by}`);
        }
        assert.deepEqual(await records.listById(workspaceId, '', 9), [mine], name);
        assert.equal(await records.count(workspaceId, []), 1, name);
        assert.equal(await records.count(workspaceId, [{ field: 'id', in: [id] }]), 0, name);
        const change = () => assert.fail('change was called');
        assert.equal(await records.update(workspaceId, id, change), undefined, name);
        assert.equal(await records.remove(workspaceId, id), false, name);
        assert.deepEqual(await records.get(foreign.workspaceId, id), foreign, name);
      }),
    ),

    'iterates over all records in the order of their IDs': test(async (storage) => {
      for (const { name, records, createSample, unique } of listStores(storage)) {
        const workspaceId = newId();
        assert.deepEqual(await records.listById(workspaceId, '', 9), [], name);
        const [first, second, third, foreign] = [
          createSample(workspaceId),
          createSample(workspaceId),
          createSample(workspaceId),
          createSample(newId()),
        ];
        for (const [i, it] of [third, first, foreign, second].entries()) await records.add(makeUnique(it, unique, i));
        const listIdsAfter = async (after: string, take: number) =>
          (await records.listById(workspaceId, after, take)).map(({ id }) => id);
        assert.deepEqual(await listIdsAfter('', 9), [first.id, second.id, third.id], name);
        assert.deepEqual(await listIdsAfter('', 2), [first.id, second.id], name);
        assert.deepEqual(await listIdsAfter(first.id, 9), [second.id, third.id], name);
        assert.deepEqual(await listIdsAfter(first.id, 1), [second.id], name);
        assert.deepEqual(await listIdsAfter(third.id, 9), [], name);
        await records.remove(workspaceId, second.id);
        assert.deepEqual(await listIdsAfter(second.id, 9), [third.id], `${name} after a removed record`);
      }
    }),

    'adds simultaneous records, and rejects only those whose unique value is taken': test(async (storage) => {
      for (const { records, create, reason } of listStoresWithUniqueField(storage)) {
        const [here, elsewhere] = [newId(), newId()];
        const taken = await addRecord(records, create(here, 'taken.example'));
        const [free, other] = [create(here, 'free.example'), create(here, 'other.example')];
        const foreign = create(elsewhere, 'taken.example');
        const conflict = assertRejectsWithConflict(records.add(create(here, 'taken.example')), reason);
        await Promise.all([conflict, addAll(records, [free, foreign, other])]);
        assert.deepEqual(await records.listById(here, '', 9), [taken, free, other]);
        assert.deepEqual(await records.listById(elsewhere, '', 9), [foreign]);
      }
    }),

    'removes a record only once, and does not find it afterwards': test(async ({ campaigns }) => {
      const { workspaceId, id } = await addRecord(campaigns, buildCampaign(newId()));
      assert.equal(await campaigns.remove(workspaceId, id), true);
      assert.equal(await campaigns.remove(workspaceId, id), false);
      assert.equal(await campaigns.get(workspaceId, id), undefined);
      assert.deepEqual(await campaigns.getMany(workspaceId, [id]), []);
      assert.deepEqual(
        await campaigns.list(workspaceId, { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 9 }),
        [],
      );
      assert.equal(await campaigns.count(workspaceId, []), 0);
      assert.equal(await campaigns.update(workspaceId, id, (current) => current), undefined);
    }),

    'rejects a record with a unique value that another record of the workspace has': test(async (storage) => {
      for (const { records, create, reason } of listStoresWithUniqueField(storage)) {
        const [here, elsewhere] = [newId(), newId()];
        const first = await addRecord(records, create(here, 'first.example'));
        await assertRejectsWithConflict(records.add(create(here, 'first.example')), reason);
        await addRecord(records, create(elsewhere, 'first.example'));
        const second = await addRecord(records, create(here, 'second.example'));
        const copyOf = (other: Entity) => (current: Entity) => ({ ...other, id: current.id });
        await assertRejectsWithConflict(records.update(here, second.id, copyOf(first)), reason);
        assert.deepEqual(await records.get(here, second.id), second);
        assert.equal(await records.count(here, []), 2);
      }
    }),

    'frees a unique value when its record is changed or removed': test(async (storage) => {
      for (const { records, create, reason } of listStoresWithUniqueField(storage)) {
        const workspaceId = newId();
        const { id } = await addRecord(records, create(workspaceId, 'first.example'));
        await records.update(workspaceId, id, (current) => ({ ...current }));
        await records.update(workspaceId, id, () => ({ ...create(workspaceId, 'second.example'), id }));
        await addRecord(records, create(workspaceId, 'first.example'));
        await assertRejectsWithConflict(records.add(create(workspaceId, 'second.example')), reason);
        await records.remove(workspaceId, id);
        await addRecord(records, create(workspaceId, 'second.example'));
      }
    }),

    'adds only one of several concurrent records with the same unique value': test(async ({ tags }) => {
      const workspaceId = newId();
      const adding = Array.from({ length: 20 }, () => tags.add(buildTag(workspaceId, 'Launch')));
      const outcomes = await Promise.allSettled(adding);
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal(await tags.count(workspaceId, []), 1);
    }),

    'replaces a record by the result of the change function': test(async ({ campaigns }) => {
      const before = await addRecord(campaigns, buildCampaign(newId(), { tagIds: ['a'], clicks: 1 }));
      const { workspaceId, id } = before;
      const expected = { ...before, tagIds: ['b', 'c'], clicks: 2, image: 'https://example.com/i.png' };
      const after = await campaigns.update(workspaceId, id, (current) => {
        assert.deepEqual(current, before);
        return { ...current, tagIds: ['b', 'c'], clicks: current.clicks + 1, image: 'https://example.com/i.png' };
      });
      assert.deepEqual(after, expected);
      assert.deepEqual(await campaigns.get(workspaceId, id), expected);
      assert.equal(await campaigns.count(workspaceId, [{ field: 'tagIds', in: ['a'] }]), 0);
      assert.equal(await campaigns.count(workspaceId, [{ field: 'tagIds', in: ['b'] }]), 1);
    }),

    'replaces many records in a transaction': test(async (storage) => {
      const { campaigns } = storage;
      const workspaceId = newId();
      const [first, second, other] = [
        buildCampaign(workspaceId),
        buildCampaign(workspaceId),
        buildCampaign(workspaceId),
      ];
      const foreign = buildCampaign(newId());
      for (const it of [first, second, other, foreign]) await campaigns.add(it);
      const ids = [first.id, second.id, first.id, foreign.id, newId()];
      const change = (it: CampaignRecord) => (it.id === second.id ? it : { ...it, clicks: it.clicks + 1 });
      const changed = await storage.runInTransaction((staged) => staged.campaigns.updateMany(workspaceId, ids, change));
      const expected = [{ ...first, clicks: 1 }, second];
      assert.deepEqual(
        changed.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        expected,
      );
      assert.deepEqual(await campaigns.listById(workspaceId, '', 9), [...expected, other]);
      assert.deepEqual(await campaigns.get(foreign.workspaceId, foreign.id), foreign);
      const failing = storage.runInTransaction((staged) =>
        staged.campaigns.updateMany(workspaceId, [first.id, second.id], (it) => {
          if (it.id === second.id) throw new Error('the change is not allowed');
          return { ...it, clicks: 9 };
        }),
      );
      await assert.rejects(failing, /the change is not allowed/);
      assert.deepEqual(await campaigns.listById(workspaceId, '', 9), [...expected, other]);
      assert.deepEqual(
        await storage.runInTransaction((staged) => staged.tags.updateMany(workspaceId, [], (it) => it)),
        [],
      );
    }),

    'changes none of many records if the change function throws, even if the work catches the error': test(
      async (storage) => {
        const workspaceId = newId();
        const all = [buildCampaign(workspaceId), buildCampaign(workspaceId)];
        for (const it of all) await storage.campaigns.add(it);
        const ids = all.map(({ id }) => id);
        let callCount = 0;
        const failing = (it: CampaignRecord) => {
          if (++callCount === 2) throw new Error('the change is not allowed');
          return { ...it, clicks: 9 };
        };
        await storage.runInTransaction(async ({ campaigns, tags }) => {
          await assert.rejects(campaigns.updateMany(workspaceId, ids, failing), /the change is not allowed/);
          await tags.add(buildTag(workspaceId, 'added'));
        });
        assert.deepEqual(await storage.campaigns.listById(workspaceId, '', 9), all);
        assert.equal(await storage.tags.count(workspaceId, []), 1);
      },
    ),

    'does not change a record if the change function throws': test(async ({ campaigns }) => {
      const before = await addRecord(campaigns, buildCampaign(newId()));
      const expectedError = new Error('the change is not allowed');
      const fail = () => {
        throw expectedError;
      };
      await assert.rejects(campaigns.update(before.workspaceId, before.id, fail), (error) => error === expectedError);
      assert.deepEqual(await campaigns.get(before.workspaceId, before.id), before);
    }),

    'loses none of 100 concurrent updates of one record': test(async ({ campaigns }) => {
      const { workspaceId, id } = await addRecord(campaigns, buildCampaign(newId()));
      const click = () => campaigns.update(workspaceId, id, (current) => ({ ...current, clicks: current.clicks + 1 }));
      const updated = await Promise.all(Array.from({ length: 100 }, click));
      assert.equal((await campaigns.get(workspaceId, id))?.clicks, 100);
      assert.equal(new Set(updated.map((it) => it?.clicks)).size, 100, 'each update returns its own result');
    }),

    'returns true for only one of several concurrent removals of a record': test(async ({ campaigns }) => {
      const { workspaceId, id } = await addRecord(campaigns, buildCampaign(newId()));
      const removed = await Promise.all(Array.from({ length: 20 }, () => campaigns.remove(workspaceId, id)));
      assert.equal(removed.filter(Boolean).length, 1);
    }),
  };
}

async function addRecord<T extends Entity>(records: RecordStore<T>, record: T): Promise<T> {
  await records.add(record);
  return record;
}

interface AnyStore {
  readonly name: string;
  readonly records: RecordStore<Entity>;
  /**
   * The fields that lists can order by: the last field of each index. Their type is `id`, because every `Entity` has
   * this field.
   */
  readonly orders: readonly 'id'[];
  /** Each unique field, and the error of a duplicate. */
  readonly unique: Readonly<Record<string, ConflictReason>>;
  createSample(workspaceId: string): Entity;
}

function listStores(storage: StorageEngine): AnyStore[] {
  return (Object.keys(recordSchemas) as SchemaName[]).map((name) => {
    const { indexes, unique } = recordSchemas[name] as unknown as RecordSchema<Entity>;
    return {
      name,
      records: storage[name] as unknown as RecordStore<Entity>,
      orders: [...new Set(indexes.map((fields) => fields.at(-1) as 'id'))],
      unique: unique as AnyStore['unique'],
      createSample: samples[name],
    };
  });
}

/** Runs a check with the store of each schema, directly and in a transaction. */
async function forEachStore(storage: StorageEngine, check: (store: AnyStore) => Promise<void>): Promise<void> {
  for (const [i, store] of listStores(storage).entries()) {
    await check(store);
    await storage.runInTransaction((staged) => check(listStores(staged)[i] as AnyStore));
  }
}

/** Returns the record with a distinct value in each unique field. */
function makeUnique(record: Entity, unique: AnyStore['unique'], number: number): Entity {
  return { ...record, ...Object.fromEntries(Object.keys(unique).map((field) => [field, `${number}.example`])) };
}

/**
 * Returns the store of each unique field, a function that creates a record with a value of the field, and the error
 * of a duplicate.
 */
function listStoresWithUniqueField(storage: StorageEngine) {
  return listStores(storage).flatMap(({ records, createSample, unique }) =>
    Object.entries(unique).map(([field, reason]) => ({
      records,
      create: (workspaceId: string, value: string): Entity => ({ ...createSample(workspaceId), [field]: value }),
      reason,
    })),
  );
}

/** Tries to change every part of a value. Frozen parts are skipped. */
function mutate(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) mutate(inner);
  for (const key of Object.keys(value)) Reflect.set(value, key, 'changed');
  Reflect.set(value, Array.isArray(value) ? value.length : 'more', 'changed');
}
