import assert from 'node:assert/strict';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { TagRecord } from '../../adapters/persistence/tags.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import type { Tests } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { assertRejectsWithConflict } from './assert-rejects-with-conflict.ts';
import { OutsideChange } from './outside-change.ts';
import { buildCampaign, buildDomain, buildTag, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

/** The maximum time of a transaction that nothing delays. A call that waits for itself takes `STORAGE_TIMEOUT_MS`. */
const MAX_PARALLEL_MS = 5_000;

const addClick = (it: CampaignRecord): CampaignRecord => ({ ...it, clicks: it.clicks + 1 });
const addShare = (it: CampaignRecord): CampaignRecord => ({ ...it, shares: it.shares + 1 });

/**
 * Returns the tests of transactions. `staged` is the storage as a transaction sees it, with its uncommitted changes.
 */
export function defineTransactionTests(test: CreateStorageTest, transactions: 'optimistic' | 'serialized'): Tests[] {
  const tests: Tests = {
    'commits all changes and returns the result of the work': test(async (storage) => {
      const { workspaceId, changed, removed, added, credential } = await createRecords(storage);
      const returned = await storage.runInTransaction(async (staged) => {
        await changeRecords(staged, { workspaceId, changed, removed, added, credential });
        return 'done';
      });
      assert.equal(returned, 'done');
      assert.equal((await storage.campaigns.get(workspaceId, changed.id))?.clicks, 1);
      assert.equal(await storage.tags.get(workspaceId, removed.id), undefined);
      assert.deepEqual(await storage.domains.get(workspaceId, added.id), added);
      assert.deepEqual(await storage.credentials.get(credential.id), credential);
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

    'lets others read during a transaction, but does not show them its uncommitted changes': test(
      async (storage, { openOnSameData }) => {
        const outsides = await openOnSameData();
        const all = await createRecords(storage);
        await storage.runInTransaction(async (staged) => {
          await changeRecords(staged, all);
          for (const outside of outsides) await assertUnchanged(outside, all);
        });
      },
    ),

    'lets a transaction read its own uncommitted changes': test(async (storage) => {
      const { workspaceId, ...all } = await createRecords(storage);
      await storage.runInTransaction(async (staged) => {
        await changeRecords(staged, { workspaceId, ...all });
        const { changed, removed, added, credential } = all;
        assert.equal((await staged.campaigns.get(workspaceId, changed.id))?.clicks, 1);
        assert.equal(await staged.tags.get(workspaceId, removed.id), undefined);
        assert.deepEqual(await staged.tags.getMany(workspaceId, [removed.id]), []);
        assert.deepEqual(await staged.domains.get(workspaceId, added.id), added);
        assert.deepEqual(await staged.domains.getMany(workspaceId, [added.id, newId()]), [added]);
        assert.deepEqual(await staged.credentials.get(credential.id), credential);
        assert.equal(await staged.tags.update(workspaceId, removed.id, (it) => it), undefined);
        assert.equal(await staged.tags.remove(workspaceId, removed.id), false);
        assert.equal(await staged.credentials.remove(credential.id), true);
        assert.equal(await staged.credentials.get(credential.id), undefined);
      });
    }),

    'rejects a taken ID or unique value in a transaction, and accepts it after its record was removed or changed': test(
      async (storage) => {
        const workspaceId = newId();
        const stored = buildTag(workspaceId, 'stored');
        await storage.tags.add(stored);
        await storage.runInTransaction(async ({ tags }) => {
          await assertRejectsWithConflict(tags.add(buildTag(workspaceId, 'other', { id: stored.id })));
          await assertRejectsWithConflict(tags.add(buildTag(workspaceId, 'stored')));
          const added = buildTag(workspaceId, 'added');
          await tags.add(added);
          await assertRejectsWithConflict(tags.add(buildTag(workspaceId, 'other', { id: added.id })));
          await assertRejectsWithConflict(tags.add(buildTag(workspaceId, 'added')));
          await assertRejectsWithConflict(
            tags.update(workspaceId, added.id, (it) => ({ ...it, foldedName: 'stored' })),
          );
          await tags.update(workspaceId, added.id, (it) => ({ ...it, foldedName: 'renamed' }));
          await tags.add(buildTag(workspaceId, 'added'));
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
      const { workspaceId, removed, credential } = all;
      await storage.credentials.add(credential);
      const other = buildTag(workspaceId, 'other');
      await storage.runInTransaction(async (staged) => {
        await staged.campaigns.update(workspaceId, all.changed.id, addClick);
        await assertRejectsWithConflict(staged.tags.add(buildTag(workspaceId, removed.name)));
        await assertRejectsWithConflict(staged.tags.add(removed));
        await assertRejectsWithConflict(staged.credentials.add(credential));
        await staged.tags.add(other);
        await assertRejectsWithConflict(
          staged.tags.update(workspaceId, other.id, (it) => ({ ...it, foldedName: removed.name })),
        );
      });
      assert.equal((await storage.campaigns.get(workspaceId, all.changed.id))?.clicks, 1);
      assert.deepEqual(await storage.tags.get(workspaceId, other.id), other);
      assert.equal(await storage.tags.count(workspaceId, []), 2);
    }),

    'adds many records, or none if one of them is taken': test(async ({ runInTransaction, tags }) => {
      const workspaceId = newId();
      const [one, two, three] = ['one', 'two', 'three'].map((name) => buildTag(workspaceId, name));
      const add = (...records: (typeof one)[]) =>
        runInTransaction((staged) => staged.tags.addMany(records as TagRecord[]));
      const readAll = async () => (await tags.listById(workspaceId, '', 9)).map(({ name }) => name).toSorted();
      await add();
      await add(one, two);
      assert.deepEqual(await readAll(), ['one', 'two']);
      await assertRejectsWithConflict(add(three, one));
      await assertRejectsWithConflict(add(three, buildTag(workspaceId, 'two')));
      await assertRejectsWithConflict(add(three, buildTag(newId(), 'other', { id: one?.id ?? '' })));
      assert.deepEqual(await readAll(), ['one', 'two']);
    }),

    'loses no increment of simultaneous transactions, and keeps the other fields': test(
      async (storage, { openOnSameData }) => {
        const workspaceId = newId();
        const increment = ({ runInTransaction }: StorageEngine) =>
          runInTransaction(({ eventCounters }) => eventCounters.increment(workspaceId, workspaceId, 'sequence'));
        assert.equal(await increment(storage), 1);
        assert.deepEqual(await storage.eventCounters.get(workspaceId, workspaceId), {
          ...{ id: workspaceId, workspaceId, sequence: 1 },
        });
        const countWrite = ({ eventCounters }: StorageEngine) =>
          eventCounters.increment(workspaceId, workspaceId, 'webhookWriteCount');
        assert.equal(await storage.runInTransaction(countWrite), 1, 'a missing number counts as 0');
        await storage.eventCounters.update(workspaceId, workspaceId, (it) => ({ ...it, webhookWriteCount: 7 }));
        const engines = [storage, ...(await openOnSameData())];
        const sums = await Promise.all(engines.flatMap((engine) => [increment(engine), increment(engine)]));
        assert.deepEqual(
          sums.toSorted((a, b) => a - b),
          sums.map((_, i) => i + 2),
        );
        const counter = await storage.eventCounters.get(workspaceId, workspaceId);
        assert.deepEqual([counter?.sequence, counter?.webhookWriteCount], [1 + sums.length, 7]);
      },
    ),

    'undoes an increment if the transaction fails': test(async (storage) => {
      const workspaceId = newId();
      const work = storage.runInTransaction(async ({ eventCounters }) => {
        const increment = () => eventCounters.increment(workspaceId, workspaceId, 'sequence');
        assert.deepEqual([await increment(), await increment()], [1, 2]);
        throw new Error('the work fails');
      });
      await assert.rejects(work, /the work fails/);
      assert.equal(await storage.eventCounters.get(workspaceId, workspaceId), undefined);
    }),

    'runs conflicting calls that its work makes at the same time one after another': test(async (storage) => {
      const { workspaceId, changed, removed } = await createRecords(storage);
      const other = buildCampaign(workspaceId);
      await storage.campaigns.add(other);
      const startedAt = performance.now();
      const [added, counts] = await storage.runInTransaction(async ({ campaigns, tags }) => {
        const click = ({ id }: CampaignRecord) => campaigns.update(workspaceId, id, addClick);
        const updated = await Promise.all([changed, other, changed].map(click));
        const names = ['new', removed.name, 'new', 'newer'];
        const adding = names.map((name) => tags.add(buildTag(workspaceId, name)));
        const removing = [removed, removed].map(({ id }) => tags.remove(workspaceId, id));
        const outcomes = await Promise.allSettled([...adding, tags.count(workspaceId, []), ...removing]);
        return [outcomes.map(({ status }) => status === 'fulfilled'), updated.map((it) => it?.clicks).sort()] as const;
      });
      assert.ok(performance.now() - startedAt < MAX_PARALLEL_MS, 'the calls waited for each other');
      assert.deepEqual(counts, [1, 1, 2]);
      assert.deepEqual(added, [true, false, false, true, true, true, true]);
      assert.equal((await storage.campaigns.get(workspaceId, changed.id))?.clicks, 2);
      assert.equal((await storage.campaigns.get(workspaceId, other.id))?.clicks, 1);
      const names = (await storage.tags.listById(workspaceId, '', 9)).map(({ name }) => name);
      assert.deepEqual(names, ['new', 'newer']);
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

    'keeps a change by others to a record that a transaction has read': test(async (storage, { openOnSameData }) => {
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
      for (const outside of await openOnSameData()) {
        for (const [name, read] of Object.entries(reads)) {
          const it = buildCampaign(newId());
          const { workspaceId, id } = it;
          await storage.campaigns.add(it);
          const change = new OutsideChange(transactions, () => outside.campaigns.update(workspaceId, id, addShare));
          await storage.runInTransaction(async (staged) => {
            const [found] = await read(staged, it);
            await change.start();
            const shares = (found as CampaignRecord).shares + 1;
            await staged.campaigns.update(workspaceId, id, (current) => ({ ...current, shares }));
          });
          await change.finish();
          assert.equal((await storage.campaigns.get(workspaceId, id))?.shares, 2, `read by ${name}`);
        }
      }
    }),

    'returns the same values at each read in a transaction, even if others change the records': test(
      async (storage, { openOnSameData }) => {
        for (const outside of await openOnSameData()) {
          const it = buildCampaign(newId());
          const { workspaceId, id } = it;
          await storage.campaigns.add(it);
          const change = new OutsideChange(transactions, async () => {
            await outside.campaigns.update(workspaceId, id, addClick);
            await outside.campaigns.add(buildCampaign(workspaceId));
          });
          await storage.runInTransaction(async ({ campaigns }) => {
            const assertSame = async () => {
              assert.deepEqual(await campaigns.get(workspaceId, id), it);
              assert.deepEqual(await campaigns.listById(workspaceId, '', 9), [it]);
              assert.equal(await campaigns.count(workspaceId, []), 1);
            };
            await assertSame();
            await change.start();
            await assertSame();
          });
          await change.finish();
          assert.equal((await storage.campaigns.get(workspaceId, id))?.clicks, 1);
          assert.equal(await storage.campaigns.count(workspaceId, []), 2);
        }
      },
    ),

    'runs a transaction entirely before or after others remove a record that the transaction changes': test(
      async (storage, { openOnSameData }) => {
        for (const outside of await openOnSameData()) {
          const it = buildCampaign(newId());
          await storage.campaigns.add(it);
          const change = new OutsideChange(transactions, () => outside.campaigns.remove(it.workspaceId, it.id));
          const [found, updated] = await storage.runInTransaction(async ({ campaigns }) => {
            const before = await campaigns.get(it.workspaceId, it.id);
            await change.start();
            return [before, await campaigns.update(it.workspaceId, it.id, addClick)];
          });
          assert.deepEqual(updated, found && addClick(found));
          assert.equal(await change.finish(), true);
          assert.equal(await storage.campaigns.get(it.workspaceId, it.id), undefined);
        }
      },
    ),

    'runs a transaction entirely before or after others add a record with the same ID or unique value': test(
      async (storage, { openOnSameData }) => {
        for (const outside of await openOnSameData()) {
          const mine = buildTag(newId(), 'Launch');
          const { workspaceId } = mine;
          for (const theirs of [buildTag(workspaceId, 'Launch'), buildTag(workspaceId, 'other', { id: mine.id })]) {
            const change = new OutsideChange(transactions, () => outside.tags.add(theirs));
            const isFree = await storage.runInTransaction(async ({ tags }) => {
              const count = await tags.count(workspaceId, []);
              await change.start();
              if (count === 0) await tags.add(mine);
              return count === 0;
            });
            if (isFree) await assertRejectsWithConflict(change.finish());
            else await change.finish();
            const added = isFree ? mine : theirs;
            assert.deepEqual(await storage.tags.listById(workspaceId, '', 9), [added]);
            await storage.tags.remove(workspaceId, added.id);
          }
        }
      },
    ),

    'runs a transaction entirely before or after others take a unique value that it changes a record to': test(
      async (storage, { openOnSameData }) => {
        for (const outside of await openOnSameData()) {
          const mine = buildTag(newId(), 'mine');
          const { workspaceId } = mine;
          await storage.tags.add(mine);
          const change = new OutsideChange(transactions, () => outside.tags.add(buildTag(workspaceId, 'Launch')));
          const isFree = await storage.runInTransaction(async ({ tags }) => {
            const count = await tags.count(workspaceId, []);
            await change.start();
            const renaming = tags.update(workspaceId, mine.id, (it) => ({ ...it, foldedName: 'launch' }));
            if (count === 1) await renaming;
            else await assertRejectsWithConflict(renaming);
            return count === 1;
          });
          if (isFree) await assertRejectsWithConflict(change.finish());
          else await change.finish();
          const names = (await storage.tags.listById(workspaceId, '', 9)).map(({ foldedName }) => foldedName);
          assert.deepEqual(names, isFree ? ['launch'] : ['mine', 'launch']);
        }
      },
    ),

    'stores all changes of a work that catches the error of a change that lost to others, or none': test(
      async (storage, { openOnSameData }) => {
        for (const outside of await openOnSameData()) {
          const { workspaceId, changed, removed } = await createRecords(storage);
          const change = new OutsideChange(transactions, () =>
            outside.campaigns.update(workspaceId, changed.id, addShare),
          );
          const failures = await storage.runInTransaction(async ({ campaigns, tags }) => {
            await campaigns.get(workspaceId, changed.id);
            await change.start();
            const outcome = await Promise.allSettled([campaigns.update(workspaceId, changed.id, addClick)]);
            await tags.remove(workspaceId, removed.id).catch(doNothing);
            return outcome.filter(({ status }) => status === 'rejected');
          });
          await change.finish();
          const { shares, clicks } = (await storage.campaigns.get(workspaceId, changed.id)) as CampaignRecord;
          assert.deepEqual([failures, shares, clicks], [[], 1, 1]);
          assert.equal(await storage.tags.get(workspaceId, removed.id), undefined);
        }
      },
    ),

    'does not report a transaction as committed that the database has rolled back': test(
      async (storage, { rollBackTransactions }) => {
        const all = await createRecords(storage);
        let attemptCount = 0;
        const committing = storage.runInTransaction(async (staged) => {
          await changeRecords(staged, all);
          if (++attemptCount === 1) await rollBackTransactions();
        });
        const isCommitted = await committing.then(
          () => true,
          () => false,
        );
        if (!isCommitted) await assertUnchanged(storage, all);
        else assert.deepEqual(await storage.domains.get(all.workspaceId, all.added.id), all.added);
        await storage.tags.add(buildTag(all.workspaceId, 'after'));
      },
    ),

    'keeps a change from outside if the transaction fails': test(async (storage, { openOnSameData }) => {
      for (const outside of await openOnSameData()) {
        const all = await createRecords(storage);
        const tag = buildTag(all.workspaceId, 'from outside');
        const change = new OutsideChange(transactions, () => outside.tags.add(tag));
        const work = storage.runInTransaction(async (staged) => {
          await changeRecords(staged, all);
          await change.start();
          throw new Error('the work fails');
        });
        await assert.rejects(work, /the work fails/);
        await change.finish();
        await assertUnchanged(storage, all);
        assert.deepEqual(await storage.tags.get(all.workspaceId, tag.id), tag);
      }
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
      const run = (name: string) =>
        storage.runInTransaction(() => (name === 'two' ? Promise.reject(new Error(name)) : Promise.resolve(name)));
      const [one, two, three] = [run('one'), run('two'), run('three')];
      await assert.rejects(two, /two/);
      assert.deepEqual(await Promise.all([one, three]), ['one', 'three']);
    }),
  };
  return transactions === 'optimistic' ? [tests, defineRetryTests(test)] : [tests];
}

/** Returns the tests of how often an optimistic engine runs the work of a transaction. */
function defineRetryTests(test: CreateStorageTest): Tests {
  return {
    'runs the work again after a change from outside, but not after an update that changes nothing': test(
      async (storage) => {
        const { workspaceId, changed } = await createRecords(storage);
        const countAttempts = async (change: (it: CampaignRecord) => CampaignRecord) => {
          let attemptCount = 0;
          await storage.runInTransaction(async ({ campaigns }) => {
            attemptCount++;
            await campaigns.get(workspaceId, changed.id);
            if (attemptCount === 1) await storage.campaigns.update(workspaceId, changed.id, change);
            await campaigns.update(workspaceId, changed.id, addClick);
          });
          return attemptCount;
        };
        assert.equal(await countAttempts(addShare), 2);
        assert.equal(await countAttempts((it) => it), 1);
      },
    ),

    'rejects with conflict after the maximum number of attempts, and commits nothing': test(async (storage) => {
      const all = await createRecords(storage);
      const { workspaceId, changed } = all;
      let attemptCount = 0;
      const work = storage.runInTransaction(async (staged) => {
        attemptCount++;
        await staged.tags.add(buildTag(workspaceId, 'added'));
        await staged.campaigns.get(workspaceId, changed.id);
        await storage.campaigns.update(workspaceId, changed.id, addShare);
        await staged.campaigns.update(workspaceId, changed.id, addClick);
      });
      await assertRejectsWithConflict(work);
      assert.ok(attemptCount > 1, 'the work was retried');
      // After its timeout, a transaction can have an attempt that still makes its change outside of the transaction.
      await waitUntil(async () => (await storage.campaigns.get(workspaceId, changed.id))?.shares === attemptCount);
      assert.deepEqual(await storage.campaigns.get(workspaceId, changed.id), { ...changed, shares: attemptCount });
      assert.equal(await storage.tags.count(workspaceId, []), 1);
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
  const credential = { id: newId(), workspaceId, keyId: newId() };
  return { workspaceId, changed, removed, added: buildDomain(workspaceId, 'go.example.com'), credential };
}

async function changeRecords(
  staged: StorageEngine,
  { workspaceId, changed, removed, added, credential }: Records,
): Promise<void> {
  await staged.campaigns.update(workspaceId, changed.id, addClick);
  await staged.tags.remove(workspaceId, removed.id);
  await staged.domains.add(added);
  await staged.credentials.add(credential);
}

async function assertUnchanged(
  storage: StorageEngine,
  { workspaceId, changed, removed, added, credential }: Records,
): Promise<void> {
  assert.deepEqual(await storage.campaigns.get(workspaceId, changed.id), changed);
  assert.deepEqual(await storage.tags.get(workspaceId, removed.id), removed);
  assert.equal(await storage.domains.get(workspaceId, added.id), undefined);
  assert.equal(await storage.domains.count(workspaceId, []), 0);
  assert.equal(await storage.credentials.get(credential.id), undefined);
}
