import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { memoryStorage } from '../../adapters/memory/storage.ts';
import type { CoreError } from '../../core/shared/core-error.ts';
import type { Storage } from '../../core/storage.ts';
import { campaign, newId, request, tag } from '../contract/samples.ts';
import { suite } from '../support/suite.ts';

suite('storage in memory alone', {
  'forgets expired records at the next write of their kind and workspace': async () => {
    let now = 1000;
    const { idempotentRequests: requests } = memoryStorage(() => now);
    const [here, elsewhere] = [newId(), newId()];
    const soon = request(here, { expiresAt: 2000 });
    const later = request(here, { expiresAt: 2001 });
    const foreign = request(elsewhere, { expiresAt: 2000 });
    for (const it of [soon, later, foreign]) await requests.add(it);
    now = 1999;
    await requests.add(request(here, { expiresAt: 9000 }));
    assert.equal(await requests.count(here, []), 3);
    now = 2000;
    assert.deepEqual(await requests.get(here, soon.id), soon);
    await requests.update(here, later.id, (it) => ({ ...it, holder: 'another' }));
    assert.equal(await requests.get(here, soon.id), undefined);
    assert.equal((await requests.get(here, later.id))?.holder, 'another');
    assert.equal(await requests.count(here, []), 2);
    assert.deepEqual(await requests.get(elsewhere, foreign.id), foreign);
  },

  'keeps an expired record that a change gives more time': async () => {
    let now = 1000;
    const { idempotentRequests: requests } = memoryStorage(() => now);
    const { id, workspaceId, ...it } = request(newId(), { expiresAt: 2000 });
    await requests.add({ ...it, id, workspaceId });
    now = 5000;
    const extended = await requests.update(workspaceId, id, (current) => ({ ...current, expiresAt: 9000 }));
    await requests.add(request(workspaceId, { expiresAt: 9000 }));
    assert.deepEqual(await requests.get(workspaceId, id), extended);
    assert.equal(await requests.count(workspaceId, []), 2);
  },

  'forgets expired records when a transaction writes, and the transaction keeps its own': async () => {
    let now = 1000;
    const storage = memoryStorage(() => now);
    const workspaceId = newId();
    const [old, extended] = [request(workspaceId, { expiresAt: 2000 }), request(workspaceId, { expiresAt: 2000 })];
    for (const it of [old, extended]) await storage.idempotentRequests.add(it);
    now = 5000;
    await storage.runInTransaction(async ({ idempotentRequests: requests }) => {
      await requests.update(workspaceId, extended.id, (it) => ({ ...it, expiresAt: 9000 }));
      await requests.add(request(workspaceId, { expiresAt: 9000 }));
      assert.equal(await requests.count(workspaceId, []), 3);
    });
    assert.equal(await storage.idempotentRequests.get(workspaceId, old.id), undefined);
    assert.equal((await storage.idempotentRequests.get(workspaceId, extended.id))?.expiresAt, 9000);
    assert.equal(await storage.idempotentRequests.count(workspaceId, []), 2);
  },

  'runs work again whose record was forgotten in between': async () => {
    let now = 1000;
    const storage = memoryStorage(() => now);
    const { workspaceId, id, ...it } = request(newId(), { expiresAt: 2000 });
    await storage.idempotentRequests.add({ ...it, workspaceId, id });
    const updated = await storage.runInTransaction(async ({ idempotentRequests: requests }) => {
      const result = await requests.update(workspaceId, id, (current) => ({ ...current, holder: 'another' }));
      now = 2000;
      await storage.idempotentRequests.add(request(workspaceId));
      return result;
    });
    assert.equal(updated, undefined);
  },

  'tells the work, run again, of a unique value that was taken in between': async () => {
    const storage = memoryStorage(Date.now);
    const workspaceId = newId();
    const [rival, kept] = [tag(workspaceId, 'Launch'), tag(workspaceId, 'Hiring')];
    const outcomes: string[] = [];
    await storage.runInTransaction(async ({ tags }) => {
      const adding = tags.add(tag(workspaceId, 'Launch'));
      outcomes.push(
        await adding.then(
          () => 'added',
          ({ kind }: CoreError) => kind,
        ),
      );
      await tags.add(kept);
      if (outcomes.length === 1) await storage.tags.add(rival);
    });
    assert.deepEqual(outcomes, ['added', 'conflict']);
    assert.deepEqual(await storage.tags.getMany(workspaceId, [rival.id, kept.id]), [rival, kept]);
    assert.equal(await storage.tags.count(workspaceId, []), 2);
  },

  'notices what others add while work looks at a workspace that had nothing': async () => {
    const storage = memoryStorage(Date.now);
    const workspaceId = newId();
    const [theirs, mine] = [campaign(workspaceId), campaign(workspaceId)];
    await storage.runInTransaction(async ({ campaigns }) => {
      assert.equal(await campaigns.count(workspaceId, []), 0);
      await campaigns.add(mine);
      await storage.campaigns.add(theirs);
      assert.equal(await campaigns.count(workspaceId, []), 2);
    });
    assert.deepEqual(await storage.campaigns.getMany(workspaceId, [theirs.id, mine.id]), [theirs, mine]);
  },

  'does not grow by look-ups in workspaces that it does not know': async () => {
    const storage = memoryStorage(Date.now);
    await lookAround(storage, 100);
    const before = heapUsed();
    await lookAround(storage, 10_000);
    const grown = heapUsed() - before;
    assert.ok(grown < 2_000_000, `grew by ${grown} bytes`);
    assert.equal(await storage.campaigns.count(newId(), []), 0);
  },

  'does not grow by records that come and go': async () => {
    const storage = memoryStorage(Date.now);
    const workspaceId = newId();
    await comeAndGo(storage, workspaceId, 100);
    const before = heapUsed();
    await comeAndGo(storage, workspaceId, 20_000);
    const grown = heapUsed() - before;
    assert.ok(grown < 1_000_000, `grew by ${grown} bytes`);
  },
});

async function comeAndGo({ campaigns, tags }: Storage, workspaceId: string, records: number): Promise<void> {
  for (let i = 0; i < records; i++) {
    const [it, its] = [campaign(workspaceId), tag(workspaceId, newId())];
    await campaigns.add(it);
    await tags.add(its);
    await campaigns.remove(workspaceId, it.id);
    await tags.remove(workspaceId, its.id);
  }
}

async function lookAround(storage: Storage, workspaces: number): Promise<void> {
  const query = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 } as const;
  for (let i = 0; i < workspaces; i++) {
    const workspaceId = newId();
    await storage.campaigns.get(workspaceId, 'x');
    await storage.campaigns.list(workspaceId, query);
    await storage.tags.count(workspaceId, []);
    await storage.tags.update(workspaceId, 'x', (it) => it);
    await storage.domains.remove(workspaceId, 'x');
    await storage.runInTransaction(({ groups }) => groups.get(workspaceId, 'x'));
    await storage.credentials.get(workspaceId);
  }
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
