import assert from 'node:assert/strict';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { Query } from '../../adapters/persistence/record-store.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Tests } from '../support/suite.ts';
import { assertConflict } from './assert-conflict.ts';
import { buildCampaign, buildDomain, buildTag, newId, samples } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const addClick = (it: CampaignRecord): CampaignRecord => ({ ...it, clicks: it.clicks + 1 });
const addShare = (it: CampaignRecord): CampaignRecord => ({ ...it, shares: it.shares + 1 });

/** Returns the tests of transactions. `staged` is the storage as a transaction sees it, with its uncommitted changes. */
export function defineTransactionTests(test: CreateStorageTest): Tests {
  return {
    'commits all changes and returns the result of the work': test(async (storage) => {
      const { workspaceId, changed, removed, added, entry } = await createRecords(storage);
      const returned = await storage.runInTransaction(async (staged) => {
        await changeRecords(staged, { workspaceId, changed, removed, added, entry });
        return 'done';
      });
      assert.equal(returned, 'done');
      assert.equal((await storage.campaigns.get(workspaceId, changed.id))?.clicks, 1);
      assert.equal(await storage.tags.get(workspaceId, removed.id), undefined);
      assert.deepEqual(await storage.domains.get(workspaceId, added.id), added);
      assert.deepEqual(await storage.credentials.get(entry.id), entry);
    }),

    'commits nothing if the work throws, and rejects with the same error': test(async (storage) => {
      const all = await createRecords(storage);
      const expectedError = new Error('the work fails');
      const work = storage.runInTransaction(async (staged) => {
        await changeRecords(staged, all);
        throw expectedError;
      });
      await assert.rejects(work, (error) => error === expectedError);
      await assertUnchanged(storage, all);
    }),

    'does not show uncommitted changes outside of the transaction': test(async (storage) => {
      const all = await createRecords(storage);
      await storage.runInTransaction(async (staged) => {
        await changeRecords(staged, all);
        await assertUnchanged(storage, all);
      });
    }),

    'lets a transaction read its own uncommitted changes': test(async (storage) => {
      const { workspaceId, ...all } = await createRecords(storage);
      await storage.runInTransaction(async (staged) => {
        await changeRecords(staged, { workspaceId, ...all });
        const { changed, removed, added, entry } = all;
        assert.equal((await staged.campaigns.get(workspaceId, changed.id))?.clicks, 1);
        assert.equal(await staged.tags.get(workspaceId, removed.id), undefined);
        assert.deepEqual(await staged.tags.getMany(workspaceId, [removed.id]), []);
        assert.deepEqual(await staged.domains.get(workspaceId, added.id), added);
        assert.deepEqual(await staged.domains.getMany(workspaceId, [added.id, newId()]), [added]);
        assert.deepEqual(await staged.credentials.get(entry.id), entry);
        assert.equal(await staged.tags.update(workspaceId, removed.id, (it) => it), undefined);
        assert.equal(await staged.tags.remove(workspaceId, removed.id), false);
        assert.equal(await staged.credentials.remove(entry.id), true);
        assert.equal(await staged.credentials.get(entry.id), undefined);
      });
    }),

    'lists and counts uncommitted records of a transaction together with stored ones': test(async (storage) => {
      const workspaceId = newId();
      const created = Array.from({ length: 9 }, (_, at) =>
        buildCampaign(workspaceId, {
          name: String(at),
          createdAt: `2026-03-0${1 + (at % 3)}T00:00:00.000Z`,
          updatedAt: `2026-03-0${9 - at}T00:00:00.000Z`,
          startsAt: at % 2,
          tagIds: at < 4 ? ['old'] : [],
        }),
      );
      const [removed, moved, late, ...rest] = created as [
        CampaignRecord,
        CampaignRecord,
        CampaignRecord,
        ...CampaignRecord[],
      ];
      for (const it of [removed, moved, ...rest]) await storage.campaigns.add(it);
      await storage.runInTransaction(async ({ campaigns }) => {
        await campaigns.remove(workspaceId, removed.id);
        const move = (it: CampaignRecord) => ({
          ...it,
          createdAt: '2026-03-09T00:00:00.000Z',
          startsAt: 9,
          tagIds: ['new'],
        });
        const after = (await campaigns.update(workspaceId, moved.id, move)) as CampaignRecord;
        await campaigns.add(late);
        const now = [after, late, ...rest];
        for (const by of ['createdAt', 'updatedAt', 'startsAt'] as const) {
          for (const order of ['asc', 'desc'] as const) {
            const expected = getNames(
              now.toSorted((a, b) => (order === 'asc' ? 1 : -1) * (isBefore(a, b, by) ? -1 : 1)),
            );
            for (let skip = 0; skip <= now.length; skip++) {
              const query: Query<CampaignRecord> = { where: [], by, order, skip, take: 3 };
              const page = getNames(await campaigns.list(workspaceId, query));
              assert.deepEqual(page, expected.slice(skip, skip + 3), `by ${by} ${order} from ${skip}`);
            }
          }
        }
        for (const [value, names] of Object.entries({ old: ['2', '3'], new: ['1'], none: [] })) {
          const where = [{ field: 'tagIds', in: [value] }] as const;
          const listed = await campaigns.list(workspaceId, { where, by: 'createdAt', order: 'asc', skip: 0, take: 9 });
          assert.deepEqual(getNames(listed).sort(), names);
          assert.equal(await campaigns.count(workspaceId, where), names.length);
        }
        assert.equal(await campaigns.count(workspaceId, []), now.length);
      });
    }),

    'does not show or change records of another workspace in a transaction': test(async (storage) => {
      const [mine, foreign] = [buildCampaign(newId()), buildCampaign(newId())];
      await storage.campaigns.add(foreign);
      await storage.runInTransaction(async ({ campaigns }) => {
        await campaigns.add(mine);
        const { workspaceId } = mine;
        assert.equal(await campaigns.get(workspaceId, foreign.id), undefined);
        assert.deepEqual(await campaigns.getMany(workspaceId, [foreign.id]), []);
        assert.equal(await campaigns.count(workspaceId, []), 1);
        assert.equal(await campaigns.update(workspaceId, foreign.id, addClick), undefined);
        assert.equal(await campaigns.remove(workspaceId, foreign.id), false);
      });
      assert.deepEqual(await storage.campaigns.get(foreign.workspaceId, foreign.id), foreign);
    }),

    'does not change an uncommitted record when a passed or returned value is modified': test(async (storage) => {
      const it = buildCampaign(newId());
      const expected = structuredClone(it);
      await storage.runInTransaction(async ({ campaigns }) => {
        await campaigns.add(it);
        const list = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 } as const;
        for (const value of [
          it,
          await campaigns.get(it.workspaceId, it.id),
          ...(await campaigns.getMany(it.workspaceId, [it.id])),
          ...(await campaigns.list(it.workspaceId, list)),
        ]) {
          Reflect.set(value?.tagIds ?? [], 0, 'changed');
          Reflect.set(value?.resources[0] ?? {}, 'url', 'changed');
          Reflect.set(value ?? {}, 'name', 'changed');
        }
      });
      assert.deepEqual(await storage.campaigns.get(expected.workspaceId, expected.id), expected);
    }),

    'rejects taken ids and unique values in a transaction, and frees those of removed or changed records': test(
      async (storage) => {
        const workspaceId = newId();
        const stored = buildTag(workspaceId, 'stored');
        await storage.tags.add(stored);
        await storage.runInTransaction(async ({ tags }) => {
          await assertConflict(tags.add(buildTag(workspaceId, 'other', { id: stored.id })));
          await assertConflict(tags.add(buildTag(workspaceId, 'stored')));
          const staged = buildTag(workspaceId, 'staged');
          await tags.add(staged);
          await assertConflict(tags.add(buildTag(workspaceId, 'other', { id: staged.id })));
          await assertConflict(tags.add(buildTag(workspaceId, 'staged')));
          await assertConflict(tags.update(workspaceId, staged.id, (it) => ({ ...it, foldedName: 'stored' })));
          await tags.update(workspaceId, staged.id, (it) => ({ ...it, foldedName: 'renamed' }));
          await tags.add(buildTag(workspaceId, 'staged'));
          await tags.update(workspaceId, stored.id, (it) => ({ ...it, foldedName: 'moved' }));
          await tags.add(buildTag(workspaceId, 'stored'));
          await tags.remove(workspaceId, stored.id);
          await tags.add(buildTag(workspaceId, 'moved'));
          await tags.add(buildTag(workspaceId, 'back', { id: stored.id }));
          await tags.add(buildTag(newId(), 'stored'));
        });
        assert.equal((await storage.tags.get(workspaceId, stored.id))?.name, 'back');
        assert.equal(await storage.tags.count(workspaceId, []), 5);
      },
    ),

    'commits a transaction whose work has caught a conflict': test(async (storage) => {
      const all = await createRecords(storage);
      const { workspaceId, removed, entry } = all;
      await storage.credentials.add(entry);
      const other = buildTag(workspaceId, 'other');
      await storage.runInTransaction(async (staged) => {
        await staged.campaigns.update(workspaceId, all.changed.id, addClick);
        await assertConflict(staged.tags.add(buildTag(workspaceId, removed.name)));
        await assertConflict(staged.tags.add(removed));
        await assertConflict(staged.credentials.add(entry));
        await staged.tags.add(other);
        await assertConflict(staged.tags.update(workspaceId, other.id, (it) => ({ ...it, foldedName: removed.name })));
      });
      assert.equal((await storage.campaigns.get(workspaceId, all.changed.id))?.clicks, 1);
      assert.deepEqual(await storage.tags.get(workspaceId, other.id), other);
      assert.equal(await storage.tags.count(workspaceId, []), 2);
    }),

    'runs a nested transaction as a part of the outer transaction': test(async (storage) => {
      const all = await createRecords(storage);
      const { workspaceId, changed } = all;
      const work = storage.runInTransaction(async (outer) => {
        await outer.campaigns.update(workspaceId, changed.id, addClick);
        await outer.runInTransaction(async (inner) => {
          assert.equal((await inner.campaigns.get(workspaceId, changed.id))?.clicks, 1);
          await inner.runInTransaction((innermost) => innermost.campaigns.update(workspaceId, changed.id, addClick));
        });
        assert.equal((await outer.campaigns.get(workspaceId, changed.id))?.clicks, 2);
        await assertUnchanged(storage, all);
        throw new Error('after the inner work');
      });
      await assert.rejects(work, /after the inner work/);
      await assertUnchanged(storage, all);
    }),

    'retries the work if a record that it read was changed in between': test(async (storage) => {
      const reads: Record<
        string,
        (staged: StorageEngine, it: CampaignRecord) => Promise<readonly (CampaignRecord | undefined)[]>
      > = {
        get: async ({ campaigns }, { workspaceId, id }) => [await campaigns.get(workspaceId, id)],
        getMany: ({ campaigns }, { workspaceId, id }) => campaigns.getMany(workspaceId, [id]),
        list: ({ campaigns }, { workspaceId }) =>
          campaigns.list(workspaceId, { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 }),
        update: async ({ campaigns }, { workspaceId, id }) => [await campaigns.update(workspaceId, id, (it) => it)],
      };
      for (const [name, read] of Object.entries(reads)) {
        const it = buildCampaign(newId());
        const { workspaceId, id } = it;
        await storage.campaigns.add(it);
        let attemptCount = 0;
        await storage.runInTransaction(async (staged) => {
          const [found] = await read(staged, it);
          if (++attemptCount === 1) await storage.campaigns.update(workspaceId, id, addShare);
          const shares = (found as CampaignRecord).shares + 1;
          await staged.campaigns.update(workspaceId, id, (current) => ({ ...current, shares }));
        });
        assert.equal((await storage.campaigns.get(workspaceId, id))?.shares, 2, `read by ${name}`);
        assert.equal(attemptCount, 2, `read by ${name}`);
      }
    }),

    'returns the same value at each read in a transaction, even if the record changes': test(async (storage) => {
      const it = buildCampaign(newId());
      const { workspaceId, id } = it;
      await storage.campaigns.add(it);
      await storage.runInTransaction(async ({ campaigns }) => {
        assert.deepEqual(await campaigns.get(workspaceId, id), it);
        await storage.campaigns.update(workspaceId, id, addClick);
        assert.deepEqual(await campaigns.get(workspaceId, id), it);
      });
    }),

    'retries the work if a record that it has looked up is then removed or added': test(async (storage) => {
      const removed = buildCampaign(newId());
      await storage.campaigns.add(removed);
      const added = buildTag(newId(), 'Launch');
      let attemptCount = 0;
      const work = storage.runInTransaction(async ({ campaigns, tags }) => {
        const found = await campaigns.get(removed.workspaceId, removed.id);
        const isFree = (await tags.get(added.workspaceId, added.id)) === undefined;
        if (++attemptCount === 1) {
          await storage.campaigns.remove(removed.workspaceId, removed.id);
          await storage.tags.add(added);
        }
        const updated = await campaigns.update(removed.workspaceId, removed.id, addClick);
        if (isFree) await tags.add({ ...added, name: 'mine' });
        return { found, updated };
      });
      assert.deepEqual(await work, { found: undefined, updated: undefined });
      assert.equal(attemptCount, 2);
      assert.deepEqual(await storage.tags.get(added.workspaceId, added.id), added);
    }),

    'rejects with conflict after the maximum number of attempts, and commits nothing': test(async (storage) => {
      const all = await createRecords(storage);
      const { workspaceId, changed } = all;
      let attemptCount = 0;
      const work = storage.runInTransaction(async (staged) => {
        attemptCount++;
        await staged.tags.add(buildTag(workspaceId, 'staged'));
        await staged.campaigns.get(workspaceId, changed.id);
        await storage.campaigns.update(workspaceId, changed.id, addShare);
        await staged.campaigns.update(workspaceId, changed.id, addClick);
      });
      await assertConflict(work);
      assert.ok(attemptCount > 1, 'the work was retried');
      assert.deepEqual(await storage.campaigns.get(workspaceId, changed.id), { ...changed, shares: attemptCount });
      assert.equal(await storage.tags.count(workspaceId, []), 1);
    }),

    'loses none of 100 concurrent transactions on one record': test(async (storage) => {
      const { workspaceId, changed } = await createRecords(storage);
      const share = () =>
        storage.runInTransaction(async ({ campaigns, shares }) => {
          await shares.add(samples.shares(workspaceId) as never);
          await campaigns.update(workspaceId, changed.id, addShare);
        });
      await Promise.all(Array.from({ length: 100 }, share));
      assert.equal((await storage.campaigns.get(workspaceId, changed.id))?.shares, 100);
      assert.equal(await storage.shares.count(workspaceId, []), 100);
    }),

    'loses no update among concurrent transactions and updates of one record': test(async (storage) => {
      const { workspaceId, changed } = await createRecords(storage);
      const { id } = changed;
      const work = () =>
        storage.runInTransaction(async ({ campaigns }) => {
          const { shares } = (await campaigns.get(workspaceId, id)) as CampaignRecord;
          await campaigns.update(workspaceId, id, (it) => ({ ...it, shares: shares + 1 }));
        });
      const update = () => storage.campaigns.update(workspaceId, id, addClick);
      await Promise.all(Array.from({ length: 30 }, () => [work(), update()]).flat());
      const after = (await storage.campaigns.get(workspaceId, id)) as CampaignRecord;
      assert.deepEqual([after.shares, after.clicks], [30, 30]);
    }),

    'completes the other concurrent transactions if one fails': test(async (storage) => {
      const outcomes = await Promise.allSettled(
        ['one', 'two', 'three'].map((name) =>
          storage.runInTransaction(async () => {
            if (name === 'two') throw new Error(name);
            return name;
          }),
        ),
      );
      assert.deepEqual(
        outcomes.map((it) => (it.status === 'fulfilled' ? it.value : it.reason.message)),
        ['one', 'two', 'three'],
      );
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
    }),
  };
}

type Records = Awaited<ReturnType<typeof createRecords>>;

/** Stores a campaign to change and a tag to remove, and creates a domain and a credential to add. */
async function createRecords(storage: StorageEngine) {
  const workspaceId = newId();
  const changed = buildCampaign(workspaceId);
  const removed = buildTag(workspaceId, 'removed');
  await storage.campaigns.add(changed);
  await storage.tags.add(removed);
  const entry = { id: newId(), workspaceId, keyId: newId() };
  return { workspaceId, changed, removed, added: buildDomain(workspaceId, 'go.example.com'), entry };
}

async function changeRecords(
  staged: StorageEngine,
  { workspaceId, changed, removed, added, entry }: Records,
): Promise<void> {
  await staged.campaigns.update(workspaceId, changed.id, addClick);
  await staged.tags.remove(workspaceId, removed.id);
  await staged.domains.add(added);
  await staged.credentials.add(entry);
}

async function assertUnchanged(
  storage: StorageEngine,
  { workspaceId, changed, removed, added, entry }: Records,
): Promise<void> {
  assert.deepEqual(await storage.campaigns.get(workspaceId, changed.id), changed);
  assert.deepEqual(await storage.tags.get(workspaceId, removed.id), removed);
  assert.equal(await storage.domains.get(workspaceId, added.id), undefined);
  assert.equal(await storage.domains.count(workspaceId, []), 0);
  assert.equal(await storage.credentials.get(entry.id), undefined);
}

function getNames(campaigns: readonly CampaignRecord[]): string[] {
  return campaigns.map(({ name }) => name);
}

function isBefore(a: CampaignRecord, b: CampaignRecord, by: 'createdAt' | 'updatedAt' | 'startsAt'): boolean {
  return a[by] < b[by] || (a[by] === b[by] && a.id < b.id);
}
