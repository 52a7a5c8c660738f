import assert from 'node:assert/strict';
import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import type { CoreError } from '../../core/shared/core-error.ts';
import { buildIdempotencyRecord, buildTag, newId } from '../contract/samples.ts';
import { suite } from '../support/suite.ts';

suite('the implementation of the memory storage', {
  'deletes expired records at the next write to the same store': async () => {
    let now = 1000;
    const { idempotentRequests: requests } = createMemoryEngine(() => now);
    const [here, elsewhere] = [newId(), newId()];
    const soon = buildIdempotencyRecord(here, { expiresAt: 2000 });
    const later = buildIdempotencyRecord(here, { expiresAt: 2001 });
    const foreign = buildIdempotencyRecord(elsewhere, { expiresAt: 2000 });
    for (const it of [soon, later, foreign]) await requests.add(it);
    now = 1999;
    await requests.add(buildIdempotencyRecord(here, { expiresAt: 9000 }));
    assert.equal(await requests.count(here, []), 3);
    now = 2000;
    assert.deepEqual(await requests.get(here, soon.id), soon);
    await requests.update(here, later.id, (it) => ({ ...it, holder: 'another' }));
    assert.equal(await requests.get(here, soon.id), undefined);
    assert.equal((await requests.get(here, later.id))?.holder, 'another');
    assert.equal(await requests.count(here, []), 2);
    assert.equal(await requests.get(elsewhere, foreign.id), undefined);
  },

  'keeps an expired record if a change extends its expiry': async () => {
    let now = 1000;
    const { idempotentRequests: requests } = createMemoryEngine(() => now);
    const { id, workspaceId, ...it } = buildIdempotencyRecord(newId(), { expiresAt: 2000 });
    await requests.add({ ...it, id, workspaceId });
    now = 5000;
    const extended = await requests.update(workspaceId, id, (current) => ({ ...current, expiresAt: 9000 }));
    await requests.add(buildIdempotencyRecord(workspaceId, { expiresAt: 9000 }));
    assert.deepEqual(await requests.get(workspaceId, id), extended);
    assert.equal(await requests.count(workspaceId, []), 2);
  },

  'deletes expired records when a transaction writes, but not those that the transaction extends': async () => {
    let now = 1000;
    const storage = createMemoryEngine(() => now);
    const workspaceId = newId();
    const [old, extended] = [
      buildIdempotencyRecord(workspaceId, { expiresAt: 2000 }),
      buildIdempotencyRecord(workspaceId, { expiresAt: 2000 }),
    ];
    for (const it of [old, extended]) await storage.idempotentRequests.add(it);
    now = 5000;
    await storage.runInTransaction(async ({ idempotentRequests: requests }) => {
      await requests.update(workspaceId, extended.id, (it) => ({ ...it, expiresAt: 9000 }));
      await requests.add(buildIdempotencyRecord(workspaceId, { expiresAt: 9000 }));
      assert.equal(await requests.count(workspaceId, []), 3);
    });
    assert.equal(await storage.idempotentRequests.get(workspaceId, old.id), undefined);
    assert.equal((await storage.idempotentRequests.get(workspaceId, extended.id))?.expiresAt, 9000);
    assert.equal(await storage.idempotentRequests.count(workspaceId, []), 2);
  },

  'retries a transaction if its record expired in between': async () => {
    let now = 1000;
    const storage = createMemoryEngine(() => now);
    const { workspaceId, id, ...it } = buildIdempotencyRecord(newId(), { expiresAt: 2000 });
    await storage.idempotentRequests.add({ ...it, workspaceId, id });
    const updated = await storage.runInTransaction(async ({ idempotentRequests: requests }) => {
      const result = await requests.update(workspaceId, id, (current) => ({ ...current, holder: 'another' }));
      now = 2000;
      await storage.idempotentRequests.add(buildIdempotencyRecord(workspaceId));
      return result;
    });
    assert.equal(updated, undefined);
  },

  'rejects a unique value in a retried transaction if it was taken in between': async () => {
    const storage = createMemoryEngine(Date.now);
    const workspaceId = newId();
    const [rival, other] = [buildTag(workspaceId, 'Launch'), buildTag(workspaceId, 'Hiring')];
    const outcomes: string[] = [];
    await storage.runInTransaction(async ({ tags }) => {
      const adding = tags.add(buildTag(workspaceId, 'Launch'));
      outcomes.push(
        await adding.then(
          () => 'added',
          ({ kind }: CoreError) => kind,
        ),
      );
      await tags.add(other);
      if (outcomes.length === 1) await storage.tags.add(rival);
    });
    assert.deepEqual(outcomes, ['added', 'conflict']);
    assert.deepEqual(await storage.tags.getMany(workspaceId, [rival.id, other.id]), [rival, other]);
    assert.equal(await storage.tags.count(workspaceId, []), 2);
  },
});
