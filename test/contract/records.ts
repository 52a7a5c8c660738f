import assert from 'node:assert/strict';
import type { Entity, RecordSchema, RecordStore } from '../../core/shared/record-store.ts';
import { recordSchemas, type Storage } from '../../core/storage.ts';
import type { Tag } from '../../core/tag/tag.ts';
import { assertConflict } from './conflict.ts';
import type { OnStorage, Tests } from './on-storage.ts';
import { campaign, domain, group, type KindName, newId, request, samples, tag } from './samples.ts';

/** What every storage does with the records of a kind. */
export function records(test: OnStorage): Tests {
  return {
    'returns a record of every kind as it was added': test(async (storage) => {
      for (const { records, sample } of everyKind(storage)) {
        const added = sample(newId());
        const { workspaceId, id } = added;
        const expected = structuredClone(added);
        await records.add(added);
        assert.deepEqual(await records.get(workspaceId, id), expected);
        assert.deepEqual(await records.getMany(workspaceId, [id]), [expected]);
        assert.deepEqual(await records.update(workspaceId, id, (current) => current), expected);
      }
    }),

    'finds those of many ids that exist, each once': test(async ({ tags }) => {
      const workspaceId = newId();
      const [one, two, three] = ['one', 'two', 'three'].map((name) => tag(workspaceId, name)) as [Tag, Tag, Tag];
      for (const it of [one, two, three]) await tags.add(it);
      assert.deepEqual(await tags.getMany(workspaceId, []), []);
      const found = await tags.getMany(workspaceId, [three.id, newId(), one.id, three.id]);
      assert.deepEqual(found.map(({ name }) => name).sort(), ['one', 'three']);
      assert.equal(await tags.get(workspaceId, newId()), undefined);
    }),

    'finds by id the fields that each asks for, whoever asks for others at the same time': test(async (storage) => {
      for (const { name, records, sample } of everyKind(storage)) {
        const added = sample(newId());
        const { workspaceId, id } = added;
        await records.add(added);
        const fields = Object.keys(added) as (keyof Entity)[];
        const asked = [[], ...fields.map((field) => [field]), fields, undefined];
        const finds = asked.flatMap((some) => [
          records.get(workspaceId, id, some),
          records.getMany(workspaceId, [id], some).then(([found]) => found),
        ]);
        const found = await Promise.all(finds);
        for (const [i, some] of asked.entries()) {
          for (const record of found.slice(2 * i, 2 * i + 2)) {
            for (const field of ['id', ...(some ?? fields)] as (keyof Entity)[]) {
              assert.deepEqual(record?.[field], added[field], `${field} of ${name}`);
            }
          }
        }
        assert.equal(await records.get(workspaceId, newId(), fields.slice(0, 1)), undefined);
      }
    }),

    'refuses an id that is taken, and keeps what has it': test(async ({ campaigns }) => {
      const first = campaign(newId(), { name: 'first' });
      await campaigns.add(first);
      await assertConflict(campaigns.add({ ...first, name: 'second' }));
      assert.deepEqual(await campaigns.get(first.workspaceId, first.id), first);
      assert.equal(await campaigns.count(first.workspaceId, []), 1);
    }),

    'keeps what it has, whatever is done to a value that went in or came out': test(async (storage) => {
      for (const { name, records, sample, orders } of everyKind(storage)) {
        const added = sample(newId());
        const { workspaceId, id } = added;
        const expected = structuredClone(added);
        const isIntact = async (after: string) =>
          assert.deepEqual(await records.get(workspaceId, id), expected, `${name} after ${after}`);

        await records.add(added);
        scribbleOn(added);
        await isIntact('add');
        scribbleOn(await records.get(workspaceId, id));
        await isIntact('get');
        scribbleOn(await records.getMany(workspaceId, [id]));
        await isIntact('getMany');
        scribbleOn(await records.listById(workspaceId, '', 9));
        await isIntact('listById');
        for (const by of orders) {
          scribbleOn(await records.list(workspaceId, { where: [], by, order: 'asc', skip: 0, take: 9 }));
          await isIntact(`list by ${by}`);
          const listed = await records.list(workspaceId, { where: [], by, order: 'desc', skip: 0, take: 9 });
          assert.deepEqual(listed, [expected]);
        }
        const scribbled = (current: Entity) => {
          scribbleOn(current);
          return current;
        };
        scribbleOn(await records.update(workspaceId, id, scribbled));
        await isIntact('update to the same');
        const replacement = structuredClone(expected);
        scribbleOn(await records.update(workspaceId, id, () => replacement));
        scribbleOn(replacement);
        await isIntact('update');
        scribbleOn(await records.get(workspaceId, id));
        await isIntact('get of what was updated');
      }
    }),

    'shows, counts, changes and removes nothing of another workspace': test(async (storage) => {
      for (const { name, records, sample, orders } of everyKind(storage)) {
        const [mine, foreign] = [sample(newId()), sample(newId())];
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
        assert.equal(await records.count(workspaceId, [{ field: 'id', is: id }]), 0, name);
        const change = () => assert.fail('there is nothing to change');
        assert.equal(await records.update(workspaceId, id, change), undefined, name);
        assert.equal(await records.remove(workspaceId, id), false, name);
        assert.deepEqual(await records.get(foreign.workspaceId, id), foreign, name);
      }
    }),

    'goes through all records in the order of their ids': test(async (storage) => {
      for (const { name, records, sample } of everyKind(storage)) {
        const workspaceId = newId();
        assert.deepEqual(await records.listById(workspaceId, '', 9), [], name);
        const [first, second, third, foreign] = [
          sample(workspaceId),
          sample(workspaceId),
          sample(workspaceId),
          sample(newId()),
        ];
        for (const [i, it] of [third, first, foreign, second].entries()) await records.add(distinct(it, i));
        const idsAfter = async (after: string, take: number) =>
          (await records.listById(workspaceId, after, take)).map(({ id }) => id);
        assert.deepEqual(await idsAfter('', 9), [first.id, second.id, third.id], name);
        assert.deepEqual(await idsAfter('', 2), [first.id, second.id], name);
        assert.deepEqual(await idsAfter(first.id, 9), [second.id, third.id], name);
        assert.deepEqual(await idsAfter(first.id, 1), [second.id], name);
        assert.deepEqual(await idsAfter(third.id, 9), [], name);
        await records.remove(workspaceId, second.id);
        assert.deepEqual(await idsAfter(second.id, 9), [third.id], `${name} after one that is gone`);
      }
    }),

    'adds many records of every kind': test(async (storage) => {
      for (const { name, records, sample } of everyKind(storage)) {
        const workspaceId = newId();
        const added = [0, 1, 2].map((i) => distinct(sample(workspaceId), i));
        const expected = structuredClone(added);
        assert.deepEqual(await records.addMany([]), new Map());
        assert.deepEqual(await records.addMany(added), new Map(), name);
        scribbleOn(added);
        assert.deepEqual(await records.listById(workspaceId, '', 9), expected, name);
      }
    }),

    'adds of many records those that it can, and says of the others why not': test(async (storage) => {
      for (const { records, make, sentence } of uniqueKinds(storage)) {
        const [here, elsewhere] = [newId(), newId()];
        const taken = await added(records, make(here, 'taken.example'));
        const [free, other, foreign] = [
          make(here, 'free.example'),
          make(here, 'other.example'),
          make(elsewhere, 'taken.example'),
        ];
        const many = [free, make(here, 'taken.example'), foreign, make(here, 'free.example'), other];
        const refused = await records.addMany(many);
        assert.deepEqual([...refused].sort(), [
          [1, sentence],
          [3, sentence],
        ]);
        assert.deepEqual(await records.listById(here, '', 9), [taken, free, other]);
        assert.deepEqual(await records.listById(elsewhere, '', 9), [foreign]);
      }
      const { campaigns } = storage;
      const first = await added(campaigns, campaign(newId(), { name: 'first' }));
      const second = campaign(first.workspaceId);
      const refused = await campaigns.addMany([{ ...first, name: 'other' }, second]);
      assert.deepEqual([...refused.keys()], [0]);
      assert.deepEqual(await campaigns.listById(first.workspaceId, '', 9), [first, second]);
    }),

    'removes a record for everyone, once': test(async ({ campaigns }) => {
      const { workspaceId, id } = await added(campaigns, campaign(newId()));
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

    'lets no two records of a workspace share a unique value': test(async (storage) => {
      for (const { records, make, sentence } of uniqueKinds(storage)) {
        const [here, elsewhere] = [newId(), newId()];
        const first = await added(records, make(here, 'first.example'));
        await assertConflict(records.add(make(here, 'first.example')), sentence);
        await added(records, make(elsewhere, 'first.example'));
        const second = await added(records, make(here, 'second.example'));
        const like = (other: Entity) => (current: Entity) => ({ ...other, id: current.id });
        await assertConflict(records.update(here, second.id, like(first)), sentence);
        assert.deepEqual(await records.get(here, second.id), second);
        assert.equal(await records.count(here, []), 2);
      }
    }),

    'frees a unique value when its record changes or goes': test(async (storage) => {
      for (const { records, make, sentence } of uniqueKinds(storage)) {
        const workspaceId = newId();
        const { id } = await added(records, make(workspaceId, 'first.example'));
        await records.update(workspaceId, id, (current) => ({ ...current }));
        await records.update(workspaceId, id, () => ({ ...make(workspaceId, 'second.example'), id }));
        await added(records, make(workspaceId, 'first.example'));
        await assertConflict(records.add(make(workspaceId, 'second.example')), sentence);
        await records.remove(workspaceId, id);
        await added(records, make(workspaceId, 'second.example'));
      }
    }),

    'gives a unique value to one of many that want it at once': test(async ({ tags }) => {
      const workspaceId = newId();
      const adding = Array.from({ length: 20 }, () => tags.add(tag(workspaceId, 'Launch')));
      const outcomes = await Promise.allSettled(adding);
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal(await tags.count(workspaceId, []), 1);
    }),

    'updates a record to what the change makes of it': test(async ({ campaigns }) => {
      const before = await added(campaigns, campaign(newId(), { tagIds: ['a'], clicks: 1 }));
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

    'leaves a record as it was where the change throws': test(async ({ campaigns }) => {
      const before = await added(campaigns, campaign(newId()));
      const thrown = new Error('the rule says no');
      const refuses = () => {
        throw thrown;
      };
      await assert.rejects(campaigns.update(before.workspaceId, before.id, refuses), (error) => error === thrown);
      assert.deepEqual(await campaigns.get(before.workspaceId, before.id), before);
    }),

    'writes nothing where the change returns what it was given': test(async (storage) => {
      const { workspaceId, id } = await added(storage.campaigns, campaign(newId()));
      let runs = 0;
      await storage.runInTransaction(async ({ campaigns }) => {
        runs++;
        await campaigns.get(workspaceId, id);
        await storage.campaigns.update(workspaceId, id, (current) => current);
        await campaigns.update(workspaceId, id, (current) => ({ ...current, clicks: 1 }));
      });
      assert.equal(runs, 1, 'a write would have come between');
    }),

    'loses none of 100 updates of one record at once': test(async ({ campaigns }) => {
      const { workspaceId, id } = await added(campaigns, campaign(newId()));
      const click = () => campaigns.update(workspaceId, id, (current) => ({ ...current, clicks: current.clicks + 1 }));
      const seen = await Promise.all(Array.from({ length: 100 }, click));
      assert.equal((await campaigns.get(workspaceId, id))?.clicks, 100);
      assert.equal(new Set(seen.map((it) => it?.clicks)).size, 100, 'each saw the record as it made it');
    }),

    'removes a record for one of many that want to at once': test(async ({ campaigns }) => {
      const { workspaceId, id } = await added(campaigns, campaign(newId()));
      const removed = await Promise.all(Array.from({ length: 20 }, () => campaigns.remove(workspaceId, id)));
      assert.equal(removed.filter(Boolean).length, 1);
    }),

    'keeps a record that can expire until then': test(async ({ idempotentRequests }) => {
      const workspaceId = newId();
      const kept = await added(idempotentRequests, request(workspaceId));
      await added(idempotentRequests, request(workspaceId, { expiresAt: 0 }));
      await added(idempotentRequests, request(workspaceId));
      assert.deepEqual(await idempotentRequests.get(workspaceId, kept.id), kept);
    }),
  };
}

async function added<T extends Entity>(records: RecordStore<T>, record: T): Promise<T> {
  await records.add(record);
  return record;
}

interface AnyKind {
  readonly name: string;
  readonly records: RecordStore<Entity>;
  /** The fields by which it is listed. */
  readonly orders: readonly 'id'[];
  sample(workspaceId: string): Entity;
}

function everyKind(storage: Storage): AnyKind[] {
  return (Object.keys(recordSchemas) as KindName[]).map((name) => {
    const { indexes } = recordSchemas[name] as unknown as RecordSchema<Entity>;
    return {
      name,
      records: storage[name] as unknown as RecordStore<Entity>,
      orders: [...new Set(indexes.map((fields) => fields.at(-1) as 'id'))],
      sample: samples[name],
    };
  });
}

/** The record with a unique value of its own where its kind asks for one. */
function distinct(record: Entity, number: number): Entity {
  const names = ['foldedName', 'slug'].filter((field) => field in record);
  return { ...record, ...Object.fromEntries(names.map((field) => [field, `${number}.example`])) };
}

function uniqueKinds(storage: Storage) {
  const made = { domains: domain, groups: group, tags: tag };
  return Object.entries(made).map(([name, make]) => {
    const kind = recordSchemas[name as keyof typeof made];
    return {
      records: storage[name as KindName] as unknown as RecordStore<Entity>,
      make: make as (workspaceId: string, value: string) => Entity,
      sentence: Object.values(kind.unique)[0] as string,
    };
  });
}

/** Tries to change every part of a value, as far as it can be changed. */
function scribbleOn(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) scribbleOn(inner);
  for (const key of Object.keys(value)) Reflect.set(value, key, 'scribbled');
  Reflect.set(value, Array.isArray(value) ? value.length : 'more', 'scribbled');
}
