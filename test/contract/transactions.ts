import assert from 'node:assert/strict';
import type { Campaign } from '../../core/campaign/campaign.ts';
import type { Query } from '../../core/shared/record-store.ts';
import type { Storage } from '../../core/storage.ts';
import { assertConflict } from './conflict.ts';
import type { OnStorage, Tests } from './on-storage.ts';
import { campaign, domain, newId, samples, tag } from './samples.ts';

const clicked = (it: Campaign): Campaign => ({ ...it, clicks: it.clicks + 1 });
const shared = (it: Campaign): Campaign => ({ ...it, shares: it.shares + 1 });

/** What every storage does with changes that belong together. */
export function transactions(test: OnStorage): Tests {
  return {
    'keeps all changes and returns what the work returns': test(async (storage) => {
      const { workspaceId, changed, removed, added, entry } = await things(storage);
      const returned = await storage.runInTransaction(async (staged) => {
        await changeAll(staged, { workspaceId, changed, removed, added, entry });
        return 'done';
      });
      assert.equal(returned, 'done');
      assert.equal((await storage.campaigns.get(workspaceId, changed.id))?.clicks, 1);
      assert.equal(await storage.tags.get(workspaceId, removed.id), undefined);
      assert.deepEqual(await storage.domains.get(workspaceId, added.id), added);
      assert.deepEqual(await storage.credentials.get(entry.id), entry);
    }),

    'keeps nothing where the work throws, and throws the same': test(async (storage) => {
      const all = await things(storage);
      const thrown = new Error('the rule says no');
      const work = storage.runInTransaction(async (staged) => {
        await changeAll(staged, all);
        throw thrown;
      });
      await assert.rejects(work, (error) => error === thrown);
      await isUntouched(storage, all);
    }),

    'shows nobody a part of the changes': test(async (storage) => {
      const all = await things(storage);
      await storage.runInTransaction(async (staged) => {
        await changeAll(staged, all);
        await isUntouched(storage, all);
      });
    }),

    'shows the work its own changes': test(async (storage) => {
      const { workspaceId, ...all } = await things(storage);
      await storage.runInTransaction(async (staged) => {
        await changeAll(staged, { workspaceId, ...all });
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

    'lists and counts what is staged among what is stored': test(async (storage) => {
      const workspaceId = newId();
      const made = Array.from({ length: 9 }, (_, at) =>
        campaign(workspaceId, {
          name: String(at),
          createdAt: `2026-03-0${1 + (at % 3)}T00:00:00.000Z`,
          updatedAt: `2026-03-0${9 - at}T00:00:00.000Z`,
          startsAt: at % 2,
          tagIds: at < 4 ? ['old'] : [],
        }),
      );
      const [removed, moved, late, ...rest] = made as [Campaign, Campaign, Campaign, ...Campaign[]];
      for (const it of [removed, moved, ...rest]) await storage.campaigns.add(it);
      await storage.runInTransaction(async ({ campaigns }) => {
        await campaigns.remove(workspaceId, removed.id);
        const move = (it: Campaign) => ({ ...it, createdAt: '2026-03-09T00:00:00.000Z', startsAt: 9, tagIds: ['new'] });
        const after = (await campaigns.update(workspaceId, moved.id, move)) as Campaign;
        await campaigns.add(late);
        const now = [after, late, ...rest];
        for (const by of ['createdAt', 'updatedAt', 'startsAt'] as const) {
          for (const order of ['asc', 'desc'] as const) {
            const expected = namesOf(now.toSorted((a, b) => (order === 'asc' ? 1 : -1) * (before(a, b, by) ? -1 : 1)));
            for (let skip = 0; skip <= now.length; skip++) {
              const query: Query<Campaign> = { where: [], by, order, skip, take: 3 };
              const page = namesOf(await campaigns.list(workspaceId, query));
              assert.deepEqual(page, expected.slice(skip, skip + 3), `by ${by} ${order} from ${skip}`);
            }
          }
        }
        for (const [value, names] of Object.entries({ old: ['2', '3'], new: ['1'], none: [] })) {
          const where = [{ field: 'tagIds', in: [value] }] as const;
          const listed = await campaigns.list(workspaceId, { where, by: 'createdAt', order: 'asc', skip: 0, take: 9 });
          assert.deepEqual(namesOf(listed).sort(), names);
          assert.equal(await campaigns.count(workspaceId, where), names.length);
        }
        assert.equal(await campaigns.count(workspaceId, []), now.length);
      });
    }),

    'shows the work nothing of another workspace': test(async (storage) => {
      const [mine, foreign] = [campaign(newId()), campaign(newId())];
      await storage.campaigns.add(foreign);
      await storage.runInTransaction(async ({ campaigns }) => {
        await campaigns.add(mine);
        const { workspaceId } = mine;
        assert.equal(await campaigns.get(workspaceId, foreign.id), undefined);
        assert.deepEqual(await campaigns.getMany(workspaceId, [foreign.id]), []);
        assert.equal(await campaigns.count(workspaceId, []), 1);
        assert.equal(await campaigns.update(workspaceId, foreign.id, clicked), undefined);
        assert.equal(await campaigns.remove(workspaceId, foreign.id), false);
      });
      assert.deepEqual(await storage.campaigns.get(foreign.workspaceId, foreign.id), foreign);
    }),

    'keeps what is staged, whatever is done to a value that went in or came out': test(async (storage) => {
      const it = campaign(newId());
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
          Reflect.set(value?.tagIds ?? [], 0, 'scribbled');
          Reflect.set(value?.resources[0] ?? {}, 'url', 'scribbled');
          Reflect.set(value ?? {}, 'name', 'scribbled');
        }
      });
      assert.deepEqual(await storage.campaigns.get(expected.workspaceId, expected.id), expected);
    }),

    'refuses what is taken already, stored or staged, and frees what is removed or changed': test(async (storage) => {
      const workspaceId = newId();
      const stored = tag(workspaceId, 'stored');
      await storage.tags.add(stored);
      await storage.runInTransaction(async ({ tags }) => {
        await assertConflict(tags.add(tag(workspaceId, 'other', { id: stored.id })));
        await assertConflict(tags.add(tag(workspaceId, 'stored')));
        const staged = tag(workspaceId, 'staged');
        await tags.add(staged);
        await assertConflict(tags.add(tag(workspaceId, 'other', { id: staged.id })));
        await assertConflict(tags.add(tag(workspaceId, 'staged')));
        await assertConflict(tags.update(workspaceId, staged.id, (it) => ({ ...it, foldedName: 'stored' })));
        await tags.update(workspaceId, staged.id, (it) => ({ ...it, foldedName: 'renamed' }));
        await tags.add(tag(workspaceId, 'staged'));
        await tags.update(workspaceId, stored.id, (it) => ({ ...it, foldedName: 'moved' }));
        await tags.add(tag(workspaceId, 'stored'));
        await tags.remove(workspaceId, stored.id);
        await tags.add(tag(workspaceId, 'moved'));
        await tags.add(tag(workspaceId, 'back', { id: stored.id }));
        await tags.add(tag(newId(), 'stored'));
      });
      assert.equal((await storage.tags.get(workspaceId, stored.id))?.name, 'back');
      assert.equal(await storage.tags.count(workspaceId, []), 5);
    }),

    'goes on after a conflict that the work catches': test(async (storage) => {
      const all = await things(storage);
      const { workspaceId, removed, entry } = all;
      await storage.credentials.add(entry);
      const kept = tag(workspaceId, 'kept');
      await storage.runInTransaction(async (staged) => {
        await staged.campaigns.update(workspaceId, all.changed.id, clicked);
        await assertConflict(staged.tags.add(tag(workspaceId, removed.name)));
        await assertConflict(staged.tags.add(removed));
        await assertConflict(staged.credentials.add(entry));
        await staged.tags.add(kept);
        await assertConflict(staged.tags.update(workspaceId, kept.id, (it) => ({ ...it, foldedName: removed.name })));
      });
      assert.equal((await storage.campaigns.get(workspaceId, all.changed.id))?.clicks, 1);
      assert.deepEqual(await storage.tags.get(workspaceId, kept.id), kept);
      assert.equal(await storage.tags.count(workspaceId, []), 2);
    }),

    'joins the work that it is in': test(async (storage) => {
      const all = await things(storage);
      const { workspaceId, changed } = all;
      const work = storage.runInTransaction(async (outer) => {
        await outer.campaigns.update(workspaceId, changed.id, clicked);
        await outer.runInTransaction(async (inner) => {
          assert.equal((await inner.campaigns.get(workspaceId, changed.id))?.clicks, 1);
          await inner.runInTransaction((innermost) => innermost.campaigns.update(workspaceId, changed.id, clicked));
        });
        assert.equal((await outer.campaigns.get(workspaceId, changed.id))?.clicks, 2);
        await isUntouched(storage, all);
        throw new Error('after the inner work');
      });
      await assert.rejects(work, /after the inner work/);
      await isUntouched(storage, all);
    }),

    'runs the work again where another change of what it read came between': test(async (storage) => {
      const reads: Record<string, (staged: Storage, it: Campaign) => Promise<readonly (Campaign | undefined)[]>> = {
        get: async ({ campaigns }, { workspaceId, id }) => [await campaigns.get(workspaceId, id)],
        getMany: ({ campaigns }, { workspaceId, id }) => campaigns.getMany(workspaceId, [id]),
        list: ({ campaigns }, { workspaceId }) =>
          campaigns.list(workspaceId, { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 }),
        update: async ({ campaigns }, { workspaceId, id }) => [await campaigns.update(workspaceId, id, (it) => it)],
      };
      for (const [name, read] of Object.entries(reads)) {
        const it = campaign(newId());
        const { workspaceId, id } = it;
        await storage.campaigns.add(it);
        let runs = 0;
        await storage.runInTransaction(async (staged) => {
          const [seen] = await read(staged, it);
          if (++runs === 1) await storage.campaigns.update(workspaceId, id, shared);
          const shares = (seen as Campaign).shares + 1;
          await staged.campaigns.update(workspaceId, id, (current) => ({ ...current, shares }));
        });
        assert.equal((await storage.campaigns.get(workspaceId, id))?.shares, 2, `read by ${name}`);
        assert.equal(runs, 2, `read by ${name}`);
      }
    }),

    'reads a record again as it read it first': test(async (storage) => {
      const it = campaign(newId());
      const { workspaceId, id } = it;
      await storage.campaigns.add(it);
      await storage.runInTransaction(async ({ campaigns }) => {
        assert.deepEqual(await campaigns.get(workspaceId, id), it);
        await storage.campaigns.update(workspaceId, id, clicked);
        assert.deepEqual(await campaigns.get(workspaceId, id), it);
      });
    }),

    'runs the work again where what it read was removed, or added': test(async (storage) => {
      const removed = campaign(newId());
      await storage.campaigns.add(removed);
      const added = tag(newId(), 'Launch');
      let runs = 0;
      const work = storage.runInTransaction(async ({ campaigns, tags }) => {
        const seen = await campaigns.get(removed.workspaceId, removed.id);
        const free = (await tags.get(added.workspaceId, added.id)) === undefined;
        if (++runs === 1) {
          await storage.campaigns.remove(removed.workspaceId, removed.id);
          await storage.tags.add(added);
        }
        const updated = await campaigns.update(removed.workspaceId, removed.id, clicked);
        if (free) await tags.add({ ...added, name: 'mine' });
        return { seen, updated };
      });
      assert.deepEqual(await work, { seen: undefined, updated: undefined });
      assert.equal(runs, 2);
      assert.deepEqual(await storage.tags.get(added.workspaceId, added.id), added);
    }),

    'refuses with conflict work that always comes too late, and keeps none of it': test(async (storage) => {
      const all = await things(storage);
      const { workspaceId, changed } = all;
      let runs = 0;
      const work = storage.runInTransaction(async (staged) => {
        runs++;
        await staged.tags.add(tag(workspaceId, 'staged'));
        await staged.campaigns.get(workspaceId, changed.id);
        await storage.campaigns.update(workspaceId, changed.id, shared);
        await staged.campaigns.update(workspaceId, changed.id, clicked);
      });
      await assertConflict(work);
      assert.ok(runs > 1, 'it was tried again');
      assert.deepEqual(await storage.campaigns.get(workspaceId, changed.id), { ...changed, shares: runs });
      assert.equal(await storage.tags.count(workspaceId, []), 1);
    }),

    'loses none of 100 works at once on one record': test(async (storage) => {
      const { workspaceId, changed } = await things(storage);
      const share = () =>
        storage.runInTransaction(async ({ campaigns, shares }) => {
          await shares.add(samples.shares(workspaceId) as never);
          await campaigns.update(workspaceId, changed.id, shared);
        });
      await Promise.all(Array.from({ length: 100 }, share));
      assert.equal((await storage.campaigns.get(workspaceId, changed.id))?.shares, 100);
      assert.equal(await storage.shares.count(workspaceId, []), 100);
    }),

    'loses no update among works at once on one record': test(async (storage) => {
      const { workspaceId, changed } = await things(storage);
      const { id } = changed;
      const work = () =>
        storage.runInTransaction(async ({ campaigns }) => {
          const { shares } = (await campaigns.get(workspaceId, id)) as Campaign;
          await campaigns.update(workspaceId, id, (it) => ({ ...it, shares: shares + 1 }));
        });
      const update = () => storage.campaigns.update(workspaceId, id, clicked);
      await Promise.all(Array.from({ length: 30 }, () => [work(), update()]).flat());
      const after = (await storage.campaigns.get(workspaceId, id)) as Campaign;
      assert.deepEqual([after.shares, after.clicks], [30, 30]);
    }),

    'goes on with the next work after one that threw': test(async (storage) => {
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

type Things = Awaited<ReturnType<typeof things>>;

/** A stored campaign and tag to be changed and removed, and a domain and a credential to be added. */
async function things(storage: Storage) {
  const workspaceId = newId();
  const changed = campaign(workspaceId);
  const removed = tag(workspaceId, 'removed');
  await storage.campaigns.add(changed);
  await storage.tags.add(removed);
  const entry = { id: newId(), workspaceId, keyId: newId() };
  return { workspaceId, changed, removed, added: domain(workspaceId, 'go.example.com'), entry };
}

async function changeAll(staged: Storage, { workspaceId, changed, removed, added, entry }: Things): Promise<void> {
  await staged.campaigns.update(workspaceId, changed.id, clicked);
  await staged.tags.remove(workspaceId, removed.id);
  await staged.domains.add(added);
  await staged.credentials.add(entry);
}

async function isUntouched(storage: Storage, { workspaceId, changed, removed, added, entry }: Things): Promise<void> {
  assert.deepEqual(await storage.campaigns.get(workspaceId, changed.id), changed);
  assert.deepEqual(await storage.tags.get(workspaceId, removed.id), removed);
  assert.equal(await storage.domains.get(workspaceId, added.id), undefined);
  assert.equal(await storage.domains.count(workspaceId, []), 0);
  assert.equal(await storage.credentials.get(entry.id), undefined);
}

function namesOf(campaigns: readonly Campaign[]): string[] {
  return campaigns.map(({ name }) => name);
}

function before(a: Campaign, b: Campaign, by: 'createdAt' | 'updatedAt' | 'startsAt'): boolean {
  return a[by] < b[by] || (a[by] === b[by] && a.id < b.id);
}
